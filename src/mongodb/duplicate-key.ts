import { MongoServerError } from 'mongodb';

/** The server's code for a document whose key another has: two who make the same one at once may meet. */
export const duplicateKey = 11000;

/** Whether a call failed because its document is there already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey;
}
