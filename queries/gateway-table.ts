import type { AnyContentQuery } from '#application/queries/content-query.ts';
import type { AnyQuery } from '#application/queries/query.ts';
import { introspectKey } from './api-key/introspect-key.ts';
import { getBatch } from './batch/get-batch.ts';
import { listBatches } from './batch/list-batches.ts';
import { getFile } from './file/get-file.ts';
import { getFileContent } from './file/get-file-content.ts';
import { listFiles } from './file/list-files.ts';
import { getCall } from './gateway/get-call.ts';
import { listCalls } from './gateway/list-calls.ts';
import { listTargets } from './gateway/list-targets.ts';
import { getBatchHistory, getFileHistory, getStoreHistory } from './gateway-histories.ts';
import { withProofs } from './shared/get-history-proof.ts';
import { getStore } from './store/get-store.ts';
import { getStoreFile } from './store/get-store-file.ts';
import { listStoreFiles } from './store/list-store-files.ts';
import { listStores } from './store/list-stores.ts';

/** The queries of nodes with only the role `gateway`. */
export const gatewayQueries: ReadonlyArray<AnyQuery> = withProofs([
  introspectKey,
  listFiles,
  getFile,
  getFileHistory,
  listBatches,
  getBatch,
  getBatchHistory,
  listStores,
  getStore,
  getStoreHistory,
  listStoreFiles,
  getStoreFile,
  listCalls,
  getCall,
  listTargets,
]);

/** Queries whose answers are bytes. */
export const contentQueries: ReadonlyArray<AnyContentQuery> = [getFileContent];
