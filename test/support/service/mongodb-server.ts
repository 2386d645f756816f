import { MongoClient } from 'mongodb';
import { printAtEnd, skipOptionalSuite, skipSuite } from '#test/support/run/skipped-suites.ts';
import { FerretDb } from './ferretdb.ts';
import { type MongoDbProcess, type MongoDbServer, newDatabaseName } from './mongodb-process.ts';
import { SecantusDb, type SecantusDbOptions } from './secantusdb.ts';

/** The timeout of a test on a busy machine. */
const suiteTestMs = 180_000;

/** The address of the server that the suites of this process share, once one of them has started it. */
let sharedUrl: Promise<string> | null = null;

/**
 * Describes a suite that needs a server of MongoDB's protocol: the one in `MONGODB_TEST_URL`, else a server that the suites of
 * this process share. The suite is skipped when there is none.
 */
export function describeOnMongoDb(suite: string, define: (server: MongoDbServer) => void): void {
  const named = process.env.MONGODB_TEST_URL;
  if (!named && !canStart(suite, 'set MONGODB_TEST_URL or run .ci/secantusdb')) return;
  describe(suite, function () {
    this.timeout(suiteTestMs);
    const server = new NamedMongoDb();
    before(async () => server.use(named || (await startShared())));
    after(() => server.dispose());
    define(server);
  });
}

/**
 * Describes a suite that stops, kills and freezes a server of its own, whose data outlives a kill. The suite is skipped when
 * there is none.
 */
export function describeOnOwnMongoDb(suite: string, define: (server: MongoDbProcess) => void): void {
  if (canStart(suite, 'run .ci/secantusdb')) describeOnProcess(suite, ownServer({ syncOnCommit: true }), define);
}

/** Describes a suite whose server is a replica set of one member. It is skipped without SecantusDB, which needs Python. */
export function describeOnReplicaSet(suite: string, define: (server: MongoDbProcess) => void): void {
  if (SecantusDb.isInstalled) describeOnProcess(suite, new SecantusDb({ syncOnCommit: true }), define);
  else skipOptionalSuite(suite, 'run .ci/secantusdb');
}

/** Describes the sample of a suite for servers without atomic updates. It is skipped when FerretDB is missing. */
export function describeOnFerretDb(suite: string, define: (server: MongoDbProcess) => void): void {
  if (FerretDb.isInstalled) describeOnProcess(suite, new FerretDb(), define);
  else skipSuite(suite, 'run .ci/ferretdb');
}

/**
 * Returns the server in `MONGODB_TEST_URL`, else a new one. `dispose` removes the databases that were made.
 * @throws Error if it does not start
 */
export async function startMongoDb(): Promise<MongoDbServer & { dispose(): Promise<void> }> {
  const named = process.env.MONGODB_TEST_URL;
  if (!named) return startOwnMongoDb();
  const server = new NamedMongoDb();
  server.use(named);
  return server;
}

/** Starts a server of the caller. @throws Error if it does not start */
export async function startOwnMongoDb(options: SecantusDbOptions = {}): Promise<MongoDbProcess> {
  const server = ownServer(options);
  await server.start();
  return server;
}

function describeOnProcess(suite: string, server: MongoDbProcess, define: (server: MongoDbProcess) => void): void {
  describe(suite, function () {
    this.timeout(suiteTestMs);
    before(() => server.start());
    after(() => server.dispose());
    define(server);
  });
}

/** Whether a server is installed. Else the suite is recorded as skipped. */
function canStart(suite: string, how: string): boolean {
  if (SecantusDb.isInstalled) return true;
  if (!FerretDb.isInstalled) {
    skipSuite(suite, how);
    return false;
  }
  // Of the processes of a run one is enough to print it.
  if ((process.env.MOCHA_WORKER_ID ?? '0') === '0')
    printAtEnd('suites of SecantusDB ran on FerretDB (run .ci/secantusdb)');
  return true;
}

function ownServer(options: SecantusDbOptions): MongoDbProcess {
  return SecantusDb.isInstalled ? new SecantusDb(options) : new FerretDb();
}

function startShared(): Promise<string> {
  sharedUrl ??= startOwnMongoDb().then((server) => {
    server.endWithProcess();
    return server.newUrl();
  });
  return sharedUrl;
}

/** A server that runs already. */
class NamedMongoDb implements MongoDbServer {
  #url = '';
  readonly #made: string[] = [];

  /** Makes databases on this server from now on. */
  use(url: string): void {
    this.#url = url;
  }

  newUrl(): string {
    const name = newDatabaseName();
    this.#made.push(name);
    // The path of the address is the database; the database that it names is not touched.
    return this.#url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);
  }

  /** Removes the databases that were made. */
  async dispose(): Promise<void> {
    const client = new MongoClient(this.#url);
    for (const name of this.#made) await client.db(name).dropDatabase();
    await client.close();
  }
}
