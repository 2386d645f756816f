import { batchHistory } from '#domain/batch/history.ts';
import { batchId } from '#domain/batch/record.ts';
import { fileHistory } from '#domain/file/history.ts';
import { fileId } from '#domain/file/record.ts';
import { storeHistory } from '#domain/store/history.ts';
import { getBatch } from './batch/get-batch.ts';
import { getFile } from './file/get-file.ts';
import { getHistory } from './shared/get-history.ts';
import { getStore } from './store/get-store.ts';

export const getFileHistory = getHistory(getFile, fileHistory, { noun: 'a file', idCodec: fileId });
export const getBatchHistory = getHistory(getBatch, batchHistory, { idCodec: batchId });
export const getStoreHistory = getHistory(getStore, storeHistory);
