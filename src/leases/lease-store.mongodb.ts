import type { Collection } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { isDuplicateKey } from '#mongodb/mongodb-failure.ts';
import type { LeaseStore, LeaseTerm, RoundWrite, TermId } from './lease-store.ts';
import { minExpiryMs } from './round-times.ts';

const leasesName = 'leases';

interface TermRecord extends Omit<LeaseTerm, 'expiryMs'> {
  /** The name of the lease and the token, so that only one of several nodes can begin a term. */
  readonly _id: string;
  readonly name: string;
  /** Terms of release 0.5.0 have none. */
  readonly expiryMs?: number;
}

/** Each term is a separate document, which only its holder changes. It connects at the first call. */
export function openMongoDbLeaseStore(options: MongoDbConnectionOptions): LeaseStore {
  return new MongoDbLeaseStore(new MongoDbConnection(options));
}

class MongoDbLeaseStore implements LeaseStore {
  readonly #connection: MongoDbConnection;
  readonly #removing = new Set<Promise<void>>();

  constructor(connection: MongoDbConnection) {
    this.#connection = connection;
  }

  async newestOfAll(): Promise<ReadonlyMap<string, LeaseTerm>> {
    const projection = { _id: 0, name: 1, token: 1, holder: 1, renewals: 1, expiryMs: 1, released: 1 } as const;
    const found = await this.#terms((terms) => terms.find({}, { projection }).toArray());
    const newest = new Map<string, LeaseTerm>();
    // The removal of a term that another node has just superseded may be outstanding.
    for (const { name, expiryMs = minExpiryMs, ...term } of found)
      if (term.token > (newest.get(name)?.token ?? 0)) newest.set(name, { ...term, expiryMs });
    return newest;
  }

  async begin(name: string, token: number, holder: string, expiryMs: number): Promise<boolean> {
    const isFirst = await this.#insert({
      _id: idOf(name, token),
      ...{ name, token, holder, renewals: 0, expiryMs, released: false },
    });
    if (isFirst) this.#removeOlder(name, token);
    return isFirst;
  }

  async renewAll(terms: ReadonlyArray<TermId>, { number, expiryMs }: RoundWrite): Promise<number> {
    // A late write of an older round must not restore its expiry.
    const renewable = { _id: { $in: terms.map(idOfTerm) }, renewals: { $lt: number } };
    const change = { $set: { renewals: number, expiryMs } };
    // FerretDB counts a term as matched that is removed between its read and its write, but not as modified.
    const { modifiedCount } = await this.#terms((stored) => stored.updateMany(renewable, change));
    return modifiedCount;
  }

  async release(name: string, token: number): Promise<void> {
    await this.#terms((terms) => terms.updateOne({ _id: idOf(name, token) }, { $set: { released: true } }));
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await Promise.all(this.#removing);
  }

  /** What a failure leaves is removed with the next term. It counts for nothing meanwhile. */
  #removeOlder(name: string, token: number): void {
    const removing: Promise<void> = this.#terms((terms) => terms.deleteMany({ name, token: { $lt: token } }))
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
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

function idOfTerm({ name, token }: TermId): string {
  return idOf(name, token);
}

function idOf(name: string, token: number): string {
  return `${name}#${token}`;
}
