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
import { leaveOut } from '#test/support/run/skipped-suites.ts';

const startLimitMilliseconds = 60_000;
const stopLimitMilliseconds = 5000;
/** FerretDB looks through all documents for most of what it is asked. */
const suiteTestMilliseconds = 180_000;
const host = '127.0.0.1';

/** Where `.ci/ferretdb` puts the binary. */
const binary = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'switchyard',
  'ferretdb-v1.24.2',
  'ferretdb',
);

let databases = 0;

/** A server that speaks MongoDB's protocol, for one suite. */
export interface MongoDbServer {
  /** The address of a database that nobody has used yet. It is gone when the suite ends. */
  newUrl(): string;
}

/**
 * Describes a suite that needs a server of MongoDB's protocol: the one that `MONGODB_TEST_URL` names, else a FerretDB
 * started for the suite; with neither it is left out.
 */
export function describeOnMongoDb(suite: string, define: (server: MongoDbServer) => void): void {
  const named = process.env.MONGODB_TEST_URL;
  if (named) describe(suite, () => define(namedServer(named)));
  else startingFerretDb(suite, 'set MONGODB_TEST_URL or run .ci/ferretdb', define);
}

/** Describes a suite that stops, kills and freezes its server: a FerretDB of its own; without one it is left out. */
export function describeOnFerretDb(suite: string, define: (ferret: FerretDb) => void): void {
  startingFerretDb(suite, 'run .ci/ferretdb', define);
}

function startingFerretDb(suite: string, how: string, define: (ferret: FerretDb) => void): void {
  if (!existsSync(binary)) {
    leaveOut(suite, how);
    return;
  }
  describe(suite, function () {
    this.timeout(suiteTestMilliseconds);
    const ferret = new FerretDb();
    before(() => ferret.start());
    after(() => ferret.dispose());
    define(ferret);
  });
}

/** A FerretDB on its SQLite backend, in a temporary folder; always on the same port once it has been started. */
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

  /** Starts it on what it had stored, and waits until it answers. */
  start(): Promise<void> {
    return this.#start('');
  }

  /** The same, on a disk that is full: what needs no more space is still stored. */
  startFull(): Promise<void> {
    // A file that is longer keeps its length as the limit.
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
      { stdio: 'ignore', env: { ...process.env, DO_NOT_TRACK: '1' } },
    );
    endWithRun(child);
    this.#process = child;
    await this.#answers(child);
  }

  /** Ends it as an operator would. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Lets it answer nothing, with its connections open. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Ends it and removes what it stored. */
  async dispose(): Promise<void> {
    await this.kill();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true });
  }

  async #answers(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + startLimitMilliseconds;
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
    const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMilliseconds);
    child.kill(signal);
    await exited.finally(() => clearTimeout(timer));
  }
}

function namedServer(url: string): MongoDbServer {
  const made: string[] = [];
  after(async () => {
    const client = new MongoClient(url);
    for (const name of made) await client.db(name).dropDatabase();
    await client.close();
  });
  return {
    newUrl: () => {
      const name = newDatabaseName();
      made.push(name);
      // The path of the address is the database; what was named there is left alone.
      return url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);
    },
  };
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
