import { MongoServerError } from 'mongodb';

/**
 * The server's error code for a document whose key exists already, for example because two writers create it at once.
 */
export const duplicateKey = 11000;

/** Whether a call failed because its document exists already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey;
}
