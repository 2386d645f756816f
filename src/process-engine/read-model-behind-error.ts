/** A process needs a read model that is not where the log is: it is being filled, or lags. */
export class ReadModelBehindError extends Error {
  override readonly name = 'ReadModelBehindError';
  readonly collection: string;

  constructor(collection: string) {
    super(`the read model ${collection} is behind`);
    this.collection = collection;
  }
}
