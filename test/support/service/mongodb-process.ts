import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithRun } from '#test/support/run/end-with-run.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { freezeProcess } from '#test/support/run/freeze-process.ts';

const startTimeoutMs = 60_000;
const stopTimeoutMs = 5000;
const host = '127.0.0.1';

/** A server of MongoDB's protocol. */
export interface MongoDbServer {
  /** Returns the address of a new database, which is removed when the suite or the benchmark ends. */
  newUrl(): string;
}

/** Where a server listens and stores. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
  readonly folder: string;
}

/** A server of MongoDB's protocol in a process, on a temporary folder. It keeps its port between starts. */
export abstract class MongoDbProcess implements MongoDbServer {
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
    return this.run((place) => this.spawn(place));
  }

  /** Like `start`, on a full disk: writes that need more space are refused. */
  abstract startFull(): Promise<void>;

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

  /** Lets this process end although the server runs. Then the server ends too, and its data is removed. */
  endWithProcess(): void {
    this.#process?.unref();
    process.once('exit', () => {
      this.#process?.kill('SIGKILL');
      // Again, as long as the killed server still writes.
      if (this.#folder !== null) rmSync(this.#folder, { recursive: true, maxRetries: 10, retryDelay: 20 });
    });
  }

  /** Kills the server and removes its data. */
  async dispose(): Promise<void> {
    await this.kill();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true });
  }

  protected abstract spawn(place: ServerPlace): ChildProcess;

  /** Starts a process on the server's folder, and waits until it answers. @throws Error if it does not */
  protected async run(spawn: (place: ServerPlace) => ChildProcess): Promise<void> {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'mongodb-'));
    if (this.#port === 0) this.#port = await freePort();
    const child = spawn({ host, port: this.#port, folder: this.#folder });
    endWithRun(child);
    this.#process = child;
    await this.#answers(child);
  }

  async #answers(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    while (!(await accepts(this.#port))) {
      if (child.exitCode !== null) throw new Error(`${child.spawnfile} has ended with code ${child.exitCode}.`);
      if (Date.now() > deadline) throw new Error(`${child.spawnfile} does not answer.`);
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

let databases = 0;

/** Returns a name of a database that no other suite uses. */
export function newDatabaseName(): string {
  databases += 1;
  return `switchyard_test_${process.pid}_${databases}`;
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, host);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}
