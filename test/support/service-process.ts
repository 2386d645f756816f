import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.ts';

/** The admin key of every service that a test starts, unless it asks for none. */
export const adminKey = `sy_live_${'abcdefgh12'.repeat(4)}`;

const startLimitMilliseconds = 60_000;
const endLimitMilliseconds = 30_000;
const pollMilliseconds = 10;
const main = resolve(import.meta.dirname, '../../src/main.ts');

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly milliseconds: number;
}

/** Variables of a process by name; undefined for one that it is not given. */
export type ServiceEnvironment = Readonly<Record<string, string | undefined>>;

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

const running = new Set<ChildProcess>();
// A test run that is stopped leaves no process behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The service in a process of its own, whether or not it has begun to listen. */
export class ServiceProcess {
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  readonly #started = performance.now();
  #stdout = '';
  #stderr = '';
  #client: Client | null = null;

  /** Starts `node src/main.ts`; `listening` waits for it. */
  constructor({ dataDir, environment = {} }: ServiceOptions) {
    this.dataDir = dataDir;
    const told = { DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_API_KEY: adminKey, LOG_LEVEL: 'error', ...environment };
    this.#child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...told } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.#child);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#ended = this.#watch();
  }

  /** What it wrote on standard output so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** What it wrote on standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
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
    this.#child.kill('SIGTERM');
    const { code, signal } = await this.ended();
    await this.#client?.close();
    return { code, signal, milliseconds: performance.now() - asked };
  }

  /** Ends it at once, as a power cut would end it. May be called again. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
    await this.#client?.close();
  }

  /** Lets it do nothing, its connections open, as a machine that hangs. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  /** Lets it go on where it froze. */
  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async #watch(): Promise<Ended> {
    const [code, signal] = (await once(this.#child, 'close')) as [number | null, NodeJS.Signals | null];
    running.delete(this.#child);
    return { code, signal, milliseconds: performance.now() - this.#started };
  }

  #announced(): string | null {
    try {
      const owner = JSON.parse(readFileSync(join(this.dataDir, 'owner.json'), 'utf8')) as { pid: number; url?: string };
      return owner.pid === this.#child.pid ? (owner.url ?? null) : null;
    } catch {
      return null;
    }
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + startLimitMilliseconds;
    while (performance.now() < deadline) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        const { code } = await this.#ended;
        throw new Error(`the service ended with ${code}: ${this.#stderr}${this.#stdout}`);
      }
      if (await holds()) return;
      await sleep(pollMilliseconds);
    }
    throw new Error(`the service was not ready within ${startLimitMilliseconds} ms: ${this.#stderr}`);
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
