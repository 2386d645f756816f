import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { endWithRun } from '#test/support/run/end-with-run.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { freezeProcess } from '#test/support/run/freeze-process.ts';
import { skipSuite } from '#test/support/run/skipped-suites.ts';

const startTimeoutMs = 60_000;
const stopTimeoutMs = 5000;
/** Long, because FerretDB scans all documents for most queries. */
const suiteTestMs = 180_000;
const host = '127.0.0.1';

/** The binary that `.ci/ferretdb` builds. */
const binary = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'switchyard',
  'ferretdb-v1.24.2',
  'ferretdb',
);

let databases = 0;

/** A server of MongoDB's protocol, for one suite. */
export interface MongoDbServer {
  /** Returns the address of a new database, which is removed when the suite or the benchmark ends. */
  newUrl(): string;
}

/**
 * Describes a suite that needs a server of MongoDB's protocol: the one in `MONGODB_TEST_URL`, else a FerretDB that is
 * started for the suite. The suite is skipped when both are missing.
 */
export function describeOnMongoDb(suite: string, define: (server: MongoDbServer) => void): void {
  const named = process.env.MONGODB_TEST_URL;
  if (!named) {
    describeWithFerretDb(suite, 'set MONGODB_TEST_URL or run .ci/ferretdb', define);
    return;
  }
  describe(suite, () => {
    const server = new NamedMongoDb(named);
    after(() => server.dispose());
    define(server);
  });
}

/**
 * Returns the server in `MONGODB_TEST_URL`, else a new FerretDB. `dispose` removes the databases that were made.
 * @throws Error if FerretDB does not start
 */
export async function startMongoDb(): Promise<MongoDbServer & { dispose(): Promise<void> }> {
  const named = process.env.MONGODB_TEST_URL;
  if (named) return new NamedMongoDb(named);
  const ferret = new FerretDb();
  await ferret.start();
  return ferret;
}

/**
 * Describes a suite that stops, kills and freezes a FerretDB of its own. The suite is skipped when FerretDB is
 * missing.
 */
export function describeOnFerretDb(suite: string, define: (ferret: FerretDb) => void): void {
  describeWithFerretDb(suite, 'run .ci/ferretdb', define);
}

function describeWithFerretDb(suite: string, how: string, define: (ferret: FerretDb) => void): void {
  if (!existsSync(binary)) {
    skipSuite(suite, how);
    return;
  }
  describe(suite, function () {
    this.timeout(suiteTestMs);
    const ferret = new FerretDb();
    before(() => ferret.start());
    after(() => ferret.dispose());
    define(ferret);
  });
}

/** A FerretDB on SQLite in a temporary folder. It keeps its port between starts. */
export class FerretDb implements MongoDbServer {
  #folder: string | null = null;
  #port = 0;
  #process: ChildProcess | null = null;

  get port(): number {
    return this.#port;
  }

  newUrl(): string {
    return `mongodb://${host}:${this.#port}/${newDatabaseName()}`;
  }

  /** Starts the server with its stored data, and waits until it answers. */
  start(): Promise<void> {
    return this.#start('');
  }

  /** Like `start`, on a full disk: only writes that need no more space succeed. */
  startFull(): Promise<void> {
    // SQLite raises the limit to the current length of the file.
    return this.#start('?_pragma=max_page_count(1)');
  }

  async #start(parameters: string): Promise<void> {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'ferretdb-'));
    if (this.#port === 0) this.#port = await freePort();
    const options = {
      handler: 'sqlite',
      'sqlite-url': `file:${this.#folder}/${parameters}`,
      'state-dir': this.#folder,
      'listen-addr': `${host}:${this.#port}`,
      'debug-addr': '-',
      telemetry: 'disable',
      'log-level': 'error',
    };
    const child = spawn(
      binary,
      Object.entries(options).map(([name, value]) => `--${name}=${value}`),
      // A test has little data, so frequent garbage collection would only cost time.
      { stdio: 'ignore', env: { ...process.env, DO_NOT_TRACK: '1', GOGC: '400' } },
    );
    endWithRun(child);
    this.#process = child;
    await this.#answers(child);
  }

  /** Stops the server with SIGTERM. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Suspends the server. Its connections stay open. */
  freeze(): void {
    if (this.#process !== null) freezeProcess(this.#process);
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Kills the server and removes its data. */
  async dispose(): Promise<void> {
    await this.kill();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true });
  }

  async #answers(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    while (!(await accepts(this.#port))) {
      if (child.exitCode !== null) throw new Error(`FerretDB has ended with code ${child.exitCode}.`);
      if (Date.now() > deadline) throw new Error('FerretDB does not answer.');
      await sleep(20);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    child.kill(signal);
    await exited.finally(() => clearTimeout(timer));
  }
}

/** A server that runs already. */
class NamedMongoDb implements MongoDbServer {
  readonly #url: string;
  readonly #made: string[] = [];

  constructor(url: string) {
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

function newDatabaseName(): string {
  databases += 1;
  return `switchyard_test_${process.pid}_${databases}`;
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, host);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
