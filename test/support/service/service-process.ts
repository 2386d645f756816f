import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { announcedOwner } from '#app/data-directory.ts';
import { poll } from '#test/support/run/poll.ts';
import { adminKey } from './admin-key.ts';
import { Client } from './client.ts';
import { type Exit, type ProcessEnvironment, WatchedProcess } from './watched-process.ts';

export { adminKey, poll };

const startTimeoutMs = 120_000;
const endTimeoutMs = 60_000;
const ownMain = resolve(import.meta.dirname, '../../../src/main.ts');

/** How and when a service ended. */
export interface ServiceExit extends Exit {
  readonly milliseconds: number;
}

/** The variables of a service. */
export type ServiceEnvironment = ProcessEnvironment;

export interface ServiceOptions {
  /** The data folder, which may hold files of an earlier service. */
  readonly dataDir: string;
  /** Replaces or (with undefined) removes variables. */
  readonly environment?: ServiceEnvironment;
  /** The bound of the main thread's heap; default: that of `npm start`. */
  readonly maxHeapMb?: number;
  /** The file that starts the service; default: that of this checkout. */
  readonly main?: string;
}

/** The variables of a service: those of tests, and what replaces them. */
export function variablesOf(dataDir: string, environment: ServiceEnvironment = {}): ServiceEnvironment {
  return { DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_API_KEY: adminKey, LOG_LEVEL: 'error', ...environment };
}

/** A folder of one test. */
export interface TemporaryFolder {
  readonly path: string;
  readonly remove: () => void;
}

/** Creates an empty folder. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The service in another process, whether or not it listens yet. */
export class ServiceProcess {
  readonly dataDir: string;
  readonly #process: WatchedProcess;
  readonly #ended: Promise<ServiceExit>;
  readonly #started = performance.now();
  #client: Client | null = null;
  /** Why it was last not ready. */
  #readiness = '';

  /** Starts it with the flags of `npm start`; `listening` waits for it. */
  constructor({ dataDir, environment = {}, maxHeapMb, main = ownMain }: ServiceOptions) {
    this.dataDir = dataDir;
    const variables = variablesOf(dataDir, environment);
    // The last one of a kind counts.
    const flags = [...startFlags(main), ...(maxHeapMb === undefined ? [] : [`--max-old-space-size=${maxHeapMb}`])];
    this.#process = new WatchedProcess({ file: main, flags, environment: variables });
    this.#ended = this.#watch();
  }

  /** Its standard output so far. */
  get stdout(): string {
    return this.#process.stdout;
  }

  /** Its standard error so far. */
  get stderr(): string {
    return this.#process.stderr;
  }

  /** The lines of its log so far. */
  get log(): string {
    return this.stdout;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** A client with the admin key. @throws Error before the service listens */
  get client(): Client {
    if (this.#client === null) throw new Error('the service does not listen yet');
    return this.#client;
  }

  /** Its address. @throws Error before the service listens */
  get url(): string {
    const url = this.#announced();
    if (url === null) throw new Error('the service does not listen yet');
    return url;
  }

  /** Waits until the service is ready. @throws Error with its output, when it ends instead */
  async listening(): Promise<this> {
    const client = await this.announced();
    await this.#until(async () => {
      const { status, text } = await readiness(client);
      this.#readiness = text;
      return status === 200;
    });
    return this;
  }

  /** Waits until the service listens, ready or not. @returns a client with the admin key */
  async announced(): Promise<Client> {
    await this.#until(async () => this.#announced() !== null);
    this.#client ??= new Client(this.#announced() ?? '', adminKey);
    return this.#client;
  }

  /** Waits for its end. */
  async ended(): Promise<ServiceExit> {
    const ended = await Promise.race([this.#ended, sleep(endTimeoutMs, null, { ref: false })]);
    if (ended === null) throw new Error(`the service did not end within ${endTimeoutMs} ms`);
    return ended;
  }

  /** Sends SIGTERM, and waits for the end. */
  async stop(): Promise<ServiceExit> {
    const asked = performance.now();
    this.#process.send('SIGTERM');
    const { code, signal } = await this.ended();
    await this.#client?.close();
    return { code, signal, milliseconds: performance.now() - asked };
  }

  /** Sends SIGKILL, and waits for the end. May be called again. */
  async kill(): Promise<void> {
    this.#process.send('SIGKILL');
    await this.ended();
    await this.#client?.close();
  }

  /** Suspends the process, like a machine that hangs. Its connections stay open. */
  freeze(): void {
    this.#process.freeze();
  }

  /** Resumes the suspended process. */
  thaw(): void {
    this.#process.send('SIGCONT');
  }

  /** Lets the test process end while the service runs. */
  unref(): void {
    this.#process.unref();
  }

  async #watch(): Promise<ServiceExit> {
    const exit = await this.#process.ended;
    return { ...exit, milliseconds: performance.now() - this.#started };
  }

  #announced(): string | null {
    const owner = announcedOwner(this.dataDir);
    return owner?.pid === this.pid ? (owner.url ?? null) : null;
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    const isReached = await poll(async () => {
      if (!this.#process.hasEnded) return holds();
      const { code } = await this.#ended;
      throw new Error(`the service ended with ${code}: ${this.stderr}${this.stdout}`);
    }, startTimeoutMs);
    const seen = () => `${this.stderr}${this.stdout}${this.#readiness}`;
    if (!isReached) throw new Error(`the service was not ready within ${startTimeoutMs} ms: ${seen()}`);
  }
}

/** The service's report of its readiness; status 0 without an answer. */
async function readiness(client: Client): Promise<{ readonly status: number; readonly text: string }> {
  try {
    return await client.get('/readyz');
  } catch (error) {
    return { status: 0, text: String(error) };
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

/** Returns the flags that `npm start` gives Node in the checkout of a `src/main.ts`. */
function startFlags(main: string): ReadonlyArray<string> {
  const folder = resolve(dirname(main), '..');
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [, ...words]: ReadonlyArray<string> = scripts.start.split(' ');
  return words.slice(0, -1).map((word) => (word.startsWith('./') ? join(folder, word) : word));
}
