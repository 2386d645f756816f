import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnMongoDb, type MongoDbServer } from './ferretdb.ts';
import type { ServiceEnvironment } from './service-process.ts';

/** The stores that one suite's services work on. */
export interface Engines {
  /** What a service is told to work on them: the same stores each time within a suite. To be asked in hooks and tests. */
  readonly environment: () => ServiceEnvironment;
  /** Read models follow within the second that an answer waits for them, however much is written at once. */
  readonly quick: boolean;
}

/** On stores embedded in the service's own folder. */
const embedded: Engines = { environment: () => ({}), quick: true };

/** A test that asks a service in a process of its own may take this long on a busy machine. */
const serviceTestMs = 180_000;

/**
 * Describes a suite of the service twice: on its embedded stores, and with both stores outside, on EventStoreDB and
 * MongoDB. The latter is left out where no MongoDB can be had.
 * @param outside where the suite on outside stores belongs; by default to the long run, as one suite there shows in
 * `npm test` that they work
 */
export function describeOnEngines(
  suite: string,
  define: (engines: Engines) => void,
  outside: 'in npm test' | 'in the long run' = 'in the long run',
): void {
  describe(suite, function () {
    this.timeout(serviceTestMs);
    define(embedded);
  });
  const mark = outside === 'in npm test' ? '' : ` ${long}`;
  describeOnSharedEngines(`${suite}, on EventStoreDB and MongoDB${mark}`, define);
}

/**
 * Describes a suite of services that share their stores: EventStoreDB's double, or the server named, and MongoDB.
 * @param log `empty` for what only an empty log shows: then it is always the double
 */
export function describeOnSharedEngines(
  suite: string,
  define: (engines: SharedEngines) => void,
  log: 'empty' | 'any' = 'any',
): void {
  describeOnMongoDb(suite, (mongoDb) => {
    const engines = new SharedEngines(mongoDb, log === 'any' ? process.env.EVENTSTOREDB_TEST_URL : undefined);
    before(() => engines.start());
    after(() => engines.stop());
    define(engines);
  });
}

/** The addresses of stores that nodes share. */
export interface SharedStores {
  readonly eventStoreUrl: string;
  readonly readStoreUrl: string;
}

/** Both stores outside. */
export class SharedEngines implements Engines {
  /** FerretDB looks through all documents for most of what it is asked. */
  readonly quick = false;
  readonly #mongoDb: MongoDbServer;
  #double: EventStoreDbDouble | null = null;
  #eventStoreUrl: string;
  #readStoreUrl = '';

  /** @param eventStoreUrl of a server; without one a double is started */
  constructor(mongoDb: MongoDbServer, eventStoreUrl: string | undefined) {
    this.#mongoDb = mongoDb;
    this.#eventStoreUrl = eventStoreUrl ?? '';
  }

  /** The addresses of the stores. To be asked in hooks and tests. */
  get urls(): SharedStores {
    return { eventStoreUrl: this.#eventStoreUrl, readStoreUrl: this.#readStoreUrl };
  }

  environment = (): ServiceEnvironment => ({
    EVENT_STORE_URL: this.#eventStoreUrl,
    READ_STORE_URL: this.#readStoreUrl,
  });

  async start(): Promise<void> {
    if (this.#eventStoreUrl === '') {
      this.#double = await EventStoreDbDouble.start();
      this.#eventStoreUrl = this.#double.url;
    }
    this.#readStoreUrl = this.#mongoDb.newUrl();
  }

  /** The double, to be frozen, cut and killed. @throws Error where the tests run on a server */
  get double(): EventStoreDbDouble {
    if (this.#double === null) throw new Error('The suite runs on no double.');
    return this.#double;
  }

  async stop(): Promise<void> {
    await this.#double?.kill();
  }
}
