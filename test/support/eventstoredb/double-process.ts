import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freezeProcess } from '#test/support/run/freeze-process.ts';
import type { Rights } from './access.ts';
import type { CallKind } from './calls/call-kind.ts';
import type { SizeLimits } from './calls/proposed-events.ts';
import type { ServerRelease } from './eventstoredb-double.ts';
import type { Faults } from './faults/faults.ts';
import type { StreamMetadata } from './stream-limits.ts';

/** An order to a double in another process. */
export type Order =
  | { readonly call: 'start' | 'stop' | 'kill' | 'cut' | 'dropSubscribers' | 'reset' }
  /** Keeps a copy of the log, restarts with the kept copy, or removes what readers of streams no longer see. */
  | { readonly log: 'copy' | 'restore' | 'scavenge' }
  /** Answers nothing for this time. */
  | { readonly pauseMs: number }
  | { readonly stream: string; readonly metadata: StreamMetadata }
  | { readonly stream: string; readonly remove: 'softDelete' | 'tombstone' }
  /** What the service may do. */
  | { readonly rights: Rights }
  | { readonly limits: Partial<SizeLimits> }
  | { readonly faults: Partial<Faults> }
  | { readonly manner: ServerRelease }
  /** Appends this many events of another application to its own stream. */
  | { readonly foreignEvents: number }
  /** Prints the number of calls so far, by kind, as JSON, or the number of bytes that it has sent. */
  | { readonly report: 'calls' | 'bytes' };

const timeoutMs = 60_000;
const script = fileURLToPath(new URL('./serve.ts', import.meta.url));

/** A double of EventStoreDB in another process, which can be suspended. */
export class EventStoreDbDoubleProcess {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  #url = '';

  private constructor(syncTo: string | null) {
    const args = syncTo === null ? [] : [syncTo];
    const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout });
  }

  /**
   * Starts a double with an empty log that behaves like 23.10, and waits until it serves.
   * @param syncTo a new file to which it syncs each append; null: appends are in memory alone
   */
  static async start(syncTo: string | null = null): Promise<EventStoreDbDoubleProcess> {
    const double = new EventStoreDbDoubleProcess(syncTo);
    double.#url = await double.#line();
    return double;
  }

  /** It stays the same over restarts. */
  get url(): string {
    return this.#url;
  }

  get port(): number {
    return Number(new URL(this.#url).port);
  }

  /** Sends an order, and waits until it is carried out. */
  async order(order: Order): Promise<void> {
    await this.#ask(order);
  }

  /** Returns the number of calls so far, by kind. */
  async calls(): Promise<Readonly<Record<CallKind, number>>> {
    return JSON.parse(await this.#ask({ report: 'calls' })) as Readonly<Record<CallKind, number>>;
  }

  /** Returns the number of bytes that it has sent to clients. */
  async bytesSent(): Promise<number> {
    return Number(await this.#ask({ report: 'bytes' }));
  }

  #ask(order: Order): Promise<string> {
    const answer = this.#line();
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    return answer;
  }

  /** Suspends the process. Its connections stay open. */
  freeze(): void {
    freezeProcess(this.#child);
  }

  /** Resumes the process. */
  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Kills the process, even a suspended one. Its log is lost. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async #line(): Promise<string> {
    const [line] = await once(this.#lines, 'line', { signal: AbortSignal.timeout(timeoutMs) });
    return String(line);
  }
}
