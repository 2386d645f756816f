import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { announcedOwner } from '#app/data-directory.ts';
import { adminKey } from './admin-key.ts';
import { Client } from './client.ts';
import { type Exit, type ProcessEnvironment, WatchedProcess } from './watched-process.ts';

export { adminKey };

const startLimitMilliseconds = 120_000;
const endLimitMilliseconds = 60_000;
const pollMilliseconds = 10;
const main = resolve(import.meta.dirname, '../../../src/main.ts');

/** How a process ended. */
export interface Ended extends Exit {
  readonly milliseconds: number;
}

/** What a service is told. */
export type ServiceEnvironment = ProcessEnvironment;

export interface ServiceOptions {
  /** The folder; its files are left as they are. */
  readonly dataDir: string;
  /** Replaces or (with undefined) removes what the process is told. */
  readonly environment?: ServiceEnvironment;
}

/** A folder for one test. */
export interface TemporaryFolder {
  readonly path: string;
  readonly remove: () => void;
}

/** Makes an empty folder. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The service in a process of its own, whether or not it has begun to listen. */
export class ServiceProcess {
  readonly dataDir: string;
  readonly #process: WatchedProcess;
  readonly #ended: Promise<Ended>;
  readonly #started = performance.now();
  #client: Client | null = null;

  /** Starts `node src/main.ts`; `listening` waits for it. */
  constructor({ dataDir, environment = {} }: ServiceOptions) {
    this.dataDir = dataDir;
    const told = { DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_API_KEY: adminKey, LOG_LEVEL: 'error', ...environment };
    this.#process = new WatchedProcess({ file: main, environment: told });
    this.#ended = this.#watch();
  }

  /** What it wrote on standard output so far. */
  get stdout(): string {
    return this.#process.stdout;
  }

  /** What it wrote on standard error so far. */
  get stderr(): string {
    return this.#process.stderr;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** A client with the admin key. @throws Error before the service listens */
  get client(): Client {
    if (this.#client === null) throw new Error('the service does not listen yet');
    return this.#client;
  }

  /** Where it listens. @throws Error before it does */
  get url(): string {
    const url = this.#announced();
    if (url === null) throw new Error('the service does not listen yet');
    return url;
  }

  /** Waits until it answers as ready. @throws Error with what it wrote, when it ends instead */
  async listening(): Promise<this> {
    const client = await this.announced();
    await this.#until(async () => (await statusOf(client, '/readyz')) === 200);
    return this;
  }

  /** Waits until it listens, ready or not. @returns a client with the admin key */
  async announced(): Promise<Client> {
    await this.#until(async () => this.#announced() !== null);
    this.#client ??= new Client(this.#announced() ?? '', adminKey);
    return this.#client;
  }

  /** Waits for its end. */
  async ended(): Promise<Ended> {
    const ended = await Promise.race([this.#ended, sleep(endLimitMilliseconds, null, { ref: false })]);
    if (ended === null) throw new Error(`the service did not end within ${endLimitMilliseconds} ms`);
    return ended;
  }

  /** Asks it to stop, as an operator would. */
  async stop(): Promise<Ended> {
    const asked = performance.now();
    this.#process.send('SIGTERM');
    const { code, signal } = await this.ended();
    await this.#client?.close();
    return { code, signal, milliseconds: performance.now() - asked };
  }

  /** Ends it at once, as a power cut would end it. May be called again. */
  async kill(): Promise<void> {
    this.#process.send('SIGKILL');
    await this.ended();
    await this.#client?.close();
  }

  /** Lets it do nothing, its connections open, as a machine that hangs. */
  freeze(): void {
    this.#process.send('SIGSTOP');
  }

  /** Lets it go on where it froze. */
  thaw(): void {
    this.#process.send('SIGCONT');
  }

  async #watch(): Promise<Ended> {
    const exit = await this.#process.ended;
    return { ...exit, milliseconds: performance.now() - this.#started };
  }

  #announced(): string | null {
    const owner = announcedOwner(this.dataDir);
    return owner?.pid === this.pid ? (owner.url ?? null) : null;
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + startLimitMilliseconds;
    while (performance.now() < deadline) {
      if (this.#process.hasEnded) {
        const { code } = await this.#ended;
        throw new Error(`the service ended with ${code}: ${this.stderr}${this.stdout}`);
      }
      if (await holds()) return;
      await sleep(pollMilliseconds);
    }
    throw new Error(`the service was not ready within ${startLimitMilliseconds} ms: ${this.stderr}`);
  }
}

/** Of an answer; 0 without one. */
async function statusOf(client: Client, path: string): Promise<number> {
  try {
    return (await client.get(path)).status;
  } catch {
    return 0;
  }
}

/** Starts the service and waits until it is ready. */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const service = new ServiceProcess(options);
  try {
    return await service.listening();
  } catch (error) {
    await service.kill();
    throw error;
  }
}

/** Asks until a condition holds. @returns what `ask` gave, once it is neither null nor false; null at the limit */
export async function until<T>(ask: () => Promise<T | null | false>, limitMilliseconds: number): Promise<T | null> {
  const deadline = performance.now() + limitMilliseconds;
  for (;;) {
    const given = await ask();
    if (given !== null && given !== false) return given;
    if (performance.now() >= deadline) return null;
    await sleep(pollMilliseconds);
  }
}
