/** The sandbox makes no value for a schema. The message says why, for the client. */
export class UnfitSchemaError extends Error {
  override readonly name = 'UnfitSchemaError';
}
