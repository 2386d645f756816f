import { type Failure, failure } from '#domain/shared/failure.ts';

/** The failure for a file that is not in a store, although it may exist. */
export function notInStore(storeId: string, fileId: string): Failure {
  return failure('file-not-found', `The store ${storeId} has no file ${fileId}.`);
}
