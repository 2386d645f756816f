import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Faults } from './faults/faults.ts';

/** What a double in a process of its own may be told to do. */
export type Order =
  | { readonly call: 'start' | 'stop' | 'kill' | 'cut' | 'dropSubscribers' }
  | { readonly faults: Partial<Faults> };

const limitMilliseconds = 60_000;
const script = fileURLToPath(new URL('./serve.ts', import.meta.url));

/** A double of EventStoreDB in a process of its own, which can be frozen as a machine freezes. */
export class EventStoreDbDoubleProcess {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  #url = '';

  private constructor() {
    const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout });
  }

  /** Starts one with an empty log, and waits until it serves. */
  static async start(): Promise<EventStoreDbDoubleProcess> {
    const double = new EventStoreDbDoubleProcess();
    double.#url = await double.#line();
    return double;
  }

  /** The same through every stop and start. */
  get url(): string {
    return this.#url;
  }

  get port(): number {
    return Number(new URL(this.#url).port);
  }

  /** Has it do something, and waits until that is done. */
  async order(order: Order): Promise<void> {
    const done = this.#line();
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    await done;
  }

  /** Lets it do nothing, its connections open. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  /** Lets it go on where it froze. */
  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Ends it, frozen or not; its log is gone. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async #line(): Promise<string> {
    const [line] = await once(this.#lines, 'line', { signal: AbortSignal.timeout(limitMilliseconds) });
    return String(line);
  }
}
