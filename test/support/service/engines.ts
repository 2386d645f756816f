import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { long } from '#test/support/run/long.ts';
import type { MongoDbServer } from './mongodb-process.ts';
import { describeOnMongoDb } from './mongodb-server.ts';
import type { ServiceEnvironment } from './service-process.ts';

/** The stores of a suite's services. */
export interface Engines {
  /** The variables by which a service uses these stores, the same within a suite. Call it in hooks and tests only. */
  readonly environment: () => ServiceEnvironment;
}

/** Stores embedded in the service's own folder. */
export const embeddedStores: Engines = { environment: () => ({}) };

/** The timeout of a test that calls a service in another process, on a busy machine. */
const serviceTestMs = 180_000;

/**
 * Describes a suite of the service twice: on embedded stores, and in the long run on EventStoreDB with MongoDB. The second
 * one is skipped when no MongoDB is available.
 */
export function describeOnEngines(suite: string, define: (engines: Engines) => void): void {
  describeOnEmbeddedStores(suite, define);
  describeOnSharedEngines(`${onShared(suite)} ${long}`, define);
}

/**
 * Describes a suite like `describeOnEngines`, but both times in `npm test`: for what writes, reads right after a write and
 * conflicts look like on either pair of stores.
 */
export function describeContract(suite: string, define: (engines: Engines) => void): void {
  describeOnEmbeddedStores(suite, define);
  describeOnSharedEngines(onShared(suite), define);
}

const onShared = (suite: string) => `${suite}, on EventStoreDB and MongoDB`;

function describeOnEmbeddedStores(suite: string, define: (engines: Engines) => void): void {
  describe(suite, function () {
    this.timeout(serviceTestMs);
    define(embeddedStores);
  });
}

/**
 * Describes a suite of services that share their stores: MongoDB, and the double of EventStoreDB or the server in
 * `EVENTSTOREDB_TEST_URL`.
 * @param log `empty` for tests that need an empty log: these always use the double
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

/** EventStoreDB and MongoDB, shared by all services of a suite. */
export class SharedEngines implements Engines {
  readonly #mongoDb: MongoDbServer;
  #double: EventStoreDbDoubleProcess | null = null;
  #eventStoreUrl: string;
  #readStoreUrl = '';

  /** @param eventStoreUrl the server; undefined to start a double */
  constructor(mongoDb: MongoDbServer, eventStoreUrl: string | undefined) {
    this.#mongoDb = mongoDb;
    this.#eventStoreUrl = eventStoreUrl ?? '';
  }

  /** The addresses of the stores. Read it in hooks and tests only. */
  get urls(): SharedStores {
    return { eventStoreUrl: this.#eventStoreUrl, readStoreUrl: this.#readStoreUrl };
  }

  environment = (): ServiceEnvironment => ({
    EVENT_STORE_URL: this.#eventStoreUrl,
    READ_STORE_URL: this.#readStoreUrl,
  });

  async start(): Promise<void> {
    if (this.#eventStoreUrl === '') {
      // In a process of its own: a pause of the tests must not look like a server that is away.
      this.#double = await EventStoreDbDoubleProcess.start();
      this.#eventStoreUrl = this.#double.url;
    }
    this.#readStoreUrl = this.#mongoDb.newUrl();
  }

  /** The double. @throws Error when the suite runs on a server */
  get double(): EventStoreDbDoubleProcess {
    if (this.#double === null) throw new Error('The suite runs on a server, not on a double.');
    return this.#double;
  }

  async stop(): Promise<void> {
    await this.#double?.end();
  }
}
