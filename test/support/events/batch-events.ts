import type { BatchEvents } from '#domain/batch/events.ts';
import { newEvent } from '#domain/shared/event.ts';
import { fileId } from './file-events.ts';
import { ids } from './tenants.ts';

export const batchId = 'batch_cbatchone000001';

export const batchCreated = (change: Partial<BatchEvents['BatchCreated']> = {}) =>
  newEvent('BatchCreated', {
    id: batchId,
    projectId: ids.project,
    keyId: 'ckeyadmin0000000',
    inputFileId: fileId,
    inputBlobId: 'file-blob-1',
    inputBytes: 120,
    endpoint: '/v1/chat/completions',
    completionWindow: '24h',
    metadata: null,
    outputExpiresAfterSeconds: null,
    ...change,
  } satisfies BatchEvents['BatchCreated']);

export const batchTaken = (token: number, leaseToken = 0) => newEvent('BatchTaken', { id: batchId, token, leaseToken });

export const batchChecked = (total: number, token = 1) => newEvent('BatchChecked', { id: batchId, token, total });

export const linesCompleted = (part: number, lines: string, token = 1) =>
  newEvent('BatchLinesCompleted', {
    id: batchId,
    token,
    part,
    blobId: `part_cbatchone000001_${token}_${part}`,
    lines,
    completed: 2,
    failed: 1,
    outputBytes: 20,
    errorBytes: 10,
  });

export const cancelRequested = () => newEvent('BatchCancelRequested', { id: batchId });

export const batchEnded = (outcome: BatchEvents['BatchEnded']['outcome'], token = 1) =>
  newEvent('BatchEnded', {
    id: batchId,
    token,
    outcome,
    errors: [],
    outputFileId: null,
    errorFileId: null,
    partBytes: 30,
  });
