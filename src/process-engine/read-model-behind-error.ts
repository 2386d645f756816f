/** A process needs a read model that has not reached the end of the log: it is being filled, or it lags. */
export class ReadModelBehindError extends Error {
  override readonly name = 'ReadModelBehindError';
  readonly collection: string;

  constructor(collection: string) {
    super(`the read model ${collection} is behind`);
    this.collection = collection;
  }
}
