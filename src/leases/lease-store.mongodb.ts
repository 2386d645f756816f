import type { Collection } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { isDuplicateKey } from '#mongodb/mongodb-failure.ts';
import type { LeaseStore, LeaseTerm, TermId } from './lease-store.ts';

/** The time limit of a call. A holder that waits longer has lost its lease meanwhile. */
const defaultTimeoutMs = 1000;
const leasesName = 'leases';

interface TermRecord extends LeaseTerm {
  /** The name of the lease and the token, so that only one of several nodes can begin a term. */
  readonly _id: string;
  readonly name: string;
}

/**
 * Opens leases on MongoDB. Each term is a separate document, which only its holder changes. It connects at the first
 * call.
 */
export function openMongoDbLeaseStore(options: MongoDbConnectionOptions): LeaseStore {
  return new MongoDbLeaseStore(new MongoDbConnection({ timeoutMs: defaultTimeoutMs, ...options }));
}

class MongoDbLeaseStore implements LeaseStore {
  readonly #connection: MongoDbConnection;

  constructor(connection: MongoDbConnection) {
    this.#connection = connection;
  }

  async newestOfAll(): Promise<ReadonlyMap<string, LeaseTerm>> {
    const projection = { _id: 0, name: 1, token: 1, holder: 1, renewals: 1, released: 1 } as const;
    const found = await this.#terms((terms) => terms.find({}, { projection }).toArray());
    const newest = new Map<string, LeaseTerm>();
    // A term that another node has just superseded may not be removed yet.
    for (const { name, ...term } of found) if (term.token > (newest.get(name)?.token ?? 0)) newest.set(name, term);
    return newest;
  }

  async begin(name: string, token: number, holder: string): Promise<boolean> {
    const term = { _id: idOf(name, token), name, token, holder, renewals: 0, released: false };
    if (!(await this.#insert(term))) return false;
    if (!(await this.#isNewest(name, token))) {
      // A node that is suspended between its look and its begin may begin a term that is over and was removed.
      await this.#terms((terms) => terms.deleteOne({ _id: term._id }));
      return false;
    }
    await this.#terms((terms) => terms.deleteMany({ name, token: { $lt: token } }));
    return true;
  }

  async renewAll(terms: ReadonlyArray<TermId>): Promise<number> {
    const ids = terms.map(({ name, token }) => idOf(name, token));
    const change = { $inc: { renewals: 1 } };
    // FerretDB counts a term as matched that is removed between its read and its write, but not as modified.
    const { modifiedCount } = await this.#terms((stored) => stored.updateMany({ _id: { $in: ids } }, change));
    return modifiedCount;
  }

  async release(name: string, token: number): Promise<void> {
    await this.#terms((terms) => terms.updateOne({ _id: idOf(name, token) }, { $set: { released: true } }));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #isNewest(name: string, token: number): Promise<boolean> {
    const newer = await this.#terms((terms) =>
      terms.findOne({ name, token: { $gt: token } }, { projection: { _id: 1 } }),
    );
    return newer === null;
  }

  #insert(term: TermRecord): Promise<boolean> {
    return this.#terms(async (terms) => {
      try {
        await terms.insertOne(term);
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    });
  }

  #terms<Result>(work: (terms: Collection<TermRecord>) => Promise<Result>): Promise<Result> {
    return this.#connection.call((database) => work(database.collection(leasesName)));
  }
}

function idOf(name: string, token: number): string {
  return `${name}#${token}`;
}
