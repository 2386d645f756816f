import { type Collection, Long } from 'mongodb';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { generationPath, type ReadModelRecord, readModelsName } from './read-model-record.ts';

/** Records that a writer changes with the token of its lease; older tokens are refused. */
export class FencedRecords {
  readonly #connection: MongoDbConnection;
  readonly #fence: number;

  constructor(connection: MongoDbConnection, fence: number) {
    this.#connection = connection;
    this.#fence = fence;
  }

  /** Adds a record. Does nothing if it exists. */
  async add(name: string): Promise<void> {
    await this.#write((records) =>
      records.updateOne(
        { _id: name },
        { $setOnInsert: { fence: Long.fromNumber(this.#fence), last: 0, current: null, generations: {} } },
        { upsert: true },
      ),
    );
  }

  /** Takes a record over. From now on every older token is refused. @throws FencedError */
  async takeOver(name: string): Promise<ReadModelRecord<number> | null> {
    const fence = Long.fromNumber(this.#fence);
    await this.#write((records) => records.updateOne({ _id: name, fence: { $lt: fence } }, { $set: { fence } }));
    return this.read(name);
  }

  /** @returns those that no newer token has written */
  async takeOverAll(): Promise<ReadonlyArray<ReadModelRecord<number>>> {
    const fence = Long.fromNumber(this.#fence);
    await this.#write((records) => records.updateMany({ fence: { $lt: fence } }, { $set: { fence } }));
    return (await this.all()).filter((record) => record.fence <= this.#fence);
  }

  /** @throws FencedError if a newer token has written it */
  async read(name: string): Promise<ReadModelRecord<number> | null> {
    const record = await this.get(name);
    if (record !== null && record.fence > this.#fence) throw this.superseded(name);
    return record;
  }

  /**
   * Changes the record in one step, unless another node has taken it over.
   * @param generation must still exist
   * @throws FencedError
   */
  async change(name: string, update: Readonly<Record<string, object>>, generation?: number): Promise<void> {
    const there = generation === undefined ? {} : { [generationPath(generation)]: { $exists: true } };
    const filter = { _id: name, fence: { $lte: Long.fromNumber(this.#fence) }, ...there };
    const { matchedCount } = await this.#write((records) => records.updateOne(filter, update));
    if (matchedCount === 0) throw this.superseded(name);
  }

  /** Removes other records unless another node has taken them over. */
  async removeOthers(names: ReadonlyArray<string>): Promise<void> {
    await this.#write((records) =>
      records.deleteMany({ _id: { $nin: [...names] }, fence: { $lte: Long.fromNumber(this.#fence) } }),
    );
  }

  async get(name: string): Promise<ReadModelRecord<number> | null> {
    const [record] = await this.#find({ _id: name });
    return record ?? null;
  }

  all(): Promise<ReadonlyArray<ReadModelRecord<number>>> {
    return this.#find({});
  }

  superseded(name: string): FencedError {
    return new FencedError(
      `The read model ${name} is written by another node now (this writer's token: ${this.#fence}).`,
    );
  }

  #find(filter: { readonly _id?: string }): Promise<ReadonlyArray<ReadModelRecord<number>>> {
    return this.#connection.call((database) =>
      database.collection<ReadModelRecord<number>>(readModelsName).find(filter).toArray(),
    );
  }

  #write<Result>(work: (records: Collection<ReadModelRecord>) => Promise<Result>): Promise<Result> {
    return this.#connection.call((database) => work(database.collection(readModelsName)));
  }
}
