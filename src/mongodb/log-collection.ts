import type { Collection, Filter, IndexSpecification, OptionalUnlessRequiredId } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from './mongodb-connection.ts';
import { areDuplicates } from './mongodb-failure.ts';

export interface LogDocument {
  readonly _id: string;
  /** The time in ms since 1970. */
  readonly at: number;
}

export const newestFirst = { at: -1, _id: -1 } as const;

/** A collection to which every node adds documents, and whose old ones are removed. */
export class LogCollection<Document extends LogDocument> {
  readonly #connection: MongoDbConnection;
  readonly #name: string;
  readonly #indexes: ReadonlyArray<IndexSpecification>;
  #indexed: Promise<void> | null = null;

  /** @param indexes are created with the first insertion */
  constructor(options: MongoDbConnectionOptions, name: string, indexes: ReadonlyArray<IndexSpecification>) {
    this.#connection = new MongoDbConnection(options);
    this.#name = name;
    this.#indexes = indexes;
  }

  /** @throws as `MongoDbConnection.call` */
  call<Result>(work: (documents: Collection<Document>) => Promise<Result>): Promise<Result> {
    return this.#connection.call((database) => work(database.collection<Document>(this.#name)));
  }

  /** Documents that are stored already are ignored. @throws UnavailableError */
  async insert(added: ReadonlyArray<OptionalUnlessRequiredId<Document>>): Promise<void> {
    await this.#ensureIndexes();
    if (added.length === 0) return;
    await this.call(async (documents) => {
      try {
        await documents.insertMany(added, { ordered: false });
      } catch (error) {
        if (!areDuplicates(error)) throw error;
      }
    });
  }

  /** @param time RFC 3339 @throws UnavailableError */
  async removeBefore(time: string): Promise<void> {
    const old = { at: { $lt: Date.parse(time) } } as Filter<Document>;
    await this.call((documents) => documents.deleteMany(old));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #ensureIndexes(): Promise<void> {
    this.#indexed ??= this.call(async (documents) => {
      for (const index of this.#indexes) await documents.createIndex(index);
    });
    try {
      await this.#indexed;
    } catch (error) {
      this.#indexed = null;
      throw error;
    }
  }
}

export function before<Document extends LogDocument>(place: {
  readonly order: number;
  readonly id: string;
}): Filter<Document> {
  const { order, id } = place;
  return { $or: [{ at: { $lt: order } }, { at: order, _id: { $lt: id } }] } as Filter<Document>;
}
