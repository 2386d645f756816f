import type { EventLog, LoggedEvent } from './event-log.ts';
import { Progress } from './progress.ts';

/** Where a read of `$all` begins. */
export type Place =
  | { readonly kind: 'at'; readonly index: number }
  /** Above everything that the index shows. */
  | { readonly kind: 'past-end' }
  /** In the middle of a record. */
  | { readonly kind: 'invalid' };

interface Waiter {
  readonly position: number;
  readonly resolve: () => void;
}

/**
 * What a node shows of its log to readers and subscribers. It follows what a majority of the cluster has, without delay
 * unless a test holds it back.
 */
export class LogIndex {
  readonly log: EventLog;
  /** How it follows what is committed. */
  readonly progress = new Progress((goal) => this.#advance(goal));
  #end = 0;
  #length = 0;
  readonly #listeners = new Set<(event: LoggedEvent) => void>();
  readonly #waiters = new Set<Waiter>();

  constructor(log: EventLog) {
    this.log = log;
    log.listen({ written: () => {}, rewritten: () => this.#rewritten() });
  }

  /** The number of events that it shows: the first ones of `log.events`. */
  get length(): number {
    return this.#length;
  }

  /** The last event that it shows. */
  get last(): LoggedEvent | undefined {
    return this.log.events[this.#length - 1];
  }

  /** A majority has the log up to this end. */
  commit(end: number): void {
    this.progress.go(end);
  }

  /** Calls the listener for each event that it shows from now on. @returns a function that removes the listener */
  listen(listener: (event: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once it shows the event at a position. @returns false after a time without it */
  async shows(position: number, milliseconds: number): Promise<boolean> {
    if (position < this.#end) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { position, resolve: () => resolve(true) };
    this.#waiters.add(waiter);
    const limit = setTimeout(() => resolve(false), milliseconds).unref();
    return promise.finally(() => {
      clearTimeout(limit);
      this.#waiters.delete(waiter);
    });
  }

  isTombstoned(name: string): boolean {
    return this.log.isTombstoned(name, this.#end);
  }

  lastRevision(name: string): bigint | null {
    return this.log.lastRevision(name, this.#end);
  }

  visible(name: string): ReadonlyArray<LoggedEvent> | null {
    return this.log.visible(name, this.#end);
  }

  find(name: string, revision: bigint): LoggedEvent | undefined {
    return this.log.find(name, revision, this.#end);
  }

  /** The place of a position in `$all`. A server takes the begin of a record, or the end of another one. */
  placeOf(from: bigint | 'start' | 'end'): Place {
    if (from === 'start' || from === 0n) return { kind: 'at', index: 0 };
    if (from === 'end') return { kind: 'at', index: this.#length };
    const index = this.log.placeOf(Number(from));
    if (index >= this.#length) return { kind: 'past-end' };
    const { events, scavengedTo } = this.log;
    const isRecord = events[index]?.position === Number(from) || events[index - 1]?.end === Number(from);
    return isRecord || from < scavengedTo ? { kind: 'at', index } : { kind: 'invalid' };
  }

  #advance(goal: number): void {
    const { events } = this.log;
    const { lagEvents } = this.progress;
    const end = Math.min(goal, this.log.end);
    const length = lagEvents === 0 ? this.log.placeOf(end) : Math.max(this.log.placeOf(end) - lagEvents, 0);
    this.#end = Math.max(this.#end, lagEvents === 0 ? end : (events[length - 1]?.end ?? 0));
    while (this.#length < length) {
      const event = events[this.#length] as LoggedEvent;
      this.#length += 1;
      for (const listener of [...this.#listeners]) listener(event);
    }
    for (const { position, resolve } of [...this.#waiters]) if (position < this.#end) resolve();
  }

  #rewritten(): void {
    this.#end = Math.min(this.#end, this.log.end);
    this.#length = this.log.placeOf(this.#end);
    this.progress.reset();
  }
}
