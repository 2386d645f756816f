import { BackOff } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { EventBatch } from './event-store.ts';
import type { LogPage, LogPageRequest } from './log-pages.ts';
import { type LogWindow, type TakenEvents, type TypeFilter, takeEvents } from './log-window.ts';

export interface FollowOptions {
  /** The name as the beginning of a sentence: "The process detach-phone-numbers". */
  readonly name: string;
  /**
   * The position after which it begins: 0 for the whole log, `end` for the events that are stored from now on. After a
   * failure it continues where it was. A function is asked at the start and after each failure; null ends the follower.
   */
  readonly after: number | 'end' | (() => number | null | Promise<number | null>);
  /** The types of events; all if absent. */
  readonly types?: ReadonlyArray<string>;
  /** Types that are left out. Not together with `types`. */
  readonly exceptTypes?: ReadonlyArray<string>;
  /** Maximum number of events of a batch. Default 1,000. */
  readonly maxEvents?: number;
  /**
   * Handles the next events; the follower gets no others until it resolves. The first batch that reaches the end of the
   * log comes even if it is empty. Afterwards a follower of some types is only called with events, and a follower of all
   * types also when the log has moved past events of other applications.
   */
  readonly handle: (batch: EventBatch) => void | Promise<void>;
  /**
   * Called for a failure of `after` or `handle` before it is retried. Reads of the log are retried without a call. What
   * it throws ends the follower. Default: one `error` line; for an unavailable store one `warn` line, until it is over.
   */
  readonly onError?: (error: unknown, retryDelayMs: number) => void;
  /** Ends the follower, after the running call of `handle`. */
  readonly signal: AbortSignal;
}

export interface Following {
  /** The position up to which it has handled the log. While it waits for events, that is the end of the tail. */
  readonly position: number;
  /** True if it has handled everything that was stored when it began, or began again after a failure. */
  readonly isCaughtUp: boolean;
  /** Rejects with what `onError` has thrown. */
  readonly ended: Promise<void>;
  /** @returns false if the signal aborts first, or if the follower ends */
  passed(position: number, signal: AbortSignal): Promise<boolean>;
}

export interface TailOfFollower {
  readonly window: LogWindow;
  /** True if the newest page of the window was the end of the log. */
  readonly isAtEnd: boolean;
  /** Repeats a failed read. @returns null if the signal aborts first */
  readPage(request: LogPageRequest, signal: AbortSignal): Promise<LogPage | null>;
  /** Repeats a failed read. @returns null if the signal aborts first */
  readEnd(signal: AbortSignal): Promise<number | null>;
  /** Notes that the follower waits for events after the window. */
  waits(follower: LogFollower): void;
  readonly log: Logger;
}

const defaultMaxEvents = 1_000;
const retryLimits = { firstMs: 50, maxMs: 5_000 };

interface PositionWait {
  readonly position: number;
  readonly end: (hasPassed: boolean) => void;
}

/**
 * One follower of a tail. While it is near the end of the log, it takes its events from the tail's window. Further
 * behind it reads pages for itself.
 */
export class LogFollower implements Following {
  readonly types: ReadonlyArray<string> | null;
  readonly ended: Promise<void>;
  readonly #tail: TailOfFollower;
  readonly #options: FollowOptions;
  readonly #isWanted: TypeFilter;
  readonly #maxEvents: number;
  readonly #backOff = new BackOff(retryLimits);
  readonly #outage: OutageLog;
  readonly #waits = new Set<PositionWait>();
  /**
   * The handled position. While the follower waits for events, it has also handled what the window covers beyond this.
   */
  #position = 0;
  /** The end of the log when the follower began. */
  #endAtStart = Number.POSITIVE_INFINITY;
  #isCaughtUp = false;
  #hasEnded = false;
  /** Ends its wait for events; null while it handles some. */
  #wake: (() => void) | null = null;

  constructor(tail: TailOfFollower, options: FollowOptions) {
    this.#tail = tail;
    this.#options = options;
    this.types = options.types ?? null;
    this.#isWanted = wantedBy(options);
    this.#maxEvents = options.maxEvents ?? defaultMaxEvents;
    this.#outage = new OutageLog(tail.log, options.name);
    this.ended = this.#run().finally(() => this.#endWaits());
    // The caller may look at `ended` later; until then a rejection must not count as unhandled.
    this.ended.catch(() => undefined);
  }

  get position(): number {
    return this.isWaiting ? Math.max(this.#position, this.#tail.window.end) : this.#position;
  }

  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /** True while it waits for events after the window. */
  get isWaiting(): boolean {
    return this.#wake !== null;
  }

  /** True while it must see the end of the log, even without events. */
  get awaitsEnd(): boolean {
    return !this.#isCaughtUp && this.#tail.window.end >= this.#endAtStart;
  }

  passed(position: number, signal: AbortSignal): Promise<boolean> {
    if (this.position >= position) return Promise.resolve(true);
    if (signal.aborted || this.#hasEnded) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (hasPassed: boolean) => {
        signal.removeEventListener('abort', abort);
        this.#waits.delete(wait);
        resolve(hasPassed);
      };
      const abort = () => end(false);
      const wait = { position, end };
      signal.addEventListener('abort', abort, { once: true });
      this.#waits.add(wait);
    });
  }

  /** Wakes the follower: the window has events for it after the position. */
  wake(after: number): void {
    this.#position = Math.max(this.#position, after);
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** Call it when the tail has moved while the follower waits. */
  settleWaits(): void {
    if (this.#waits.size === 0) return;
    const { position } = this;
    for (const wait of this.#waits) if (wait.position <= position) wait.end(true);
  }

  async #run(): Promise<void> {
    const { signal, after } = this.#options;
    let start: number | null = typeof after === 'number' ? after : null;
    while (!signal.aborted) {
      try {
        start = typeof after === 'function' ? await after() : (start ?? (await this.#tail.readEnd(signal)));
        if (start === null) return;
        await this.#follow(start);
      } catch (error) {
        if (signal.aborted) return;
        start = this.#position;
        const retryDelayMs = this.#backOff.failed();
        const { onError = this.#report } = this.#options;
        onError(error, retryDelayMs);
        await delay(retryDelayMs, signal);
      }
    }
  }

  async #follow(after: number): Promise<void> {
    const { signal } = this.#options;
    this.#position = after;
    this.#isCaughtUp = false;
    const end = await this.#tail.readEnd(signal);
    if (end === null) return;
    this.#endAtStart = end;
    while (!signal.aborted) {
      const { window } = this.#tail;
      const isBehind = !window.covers(this.#position);
      const batch = isBehind ? await this.#nextAlone() : this.#nextOfWindow();
      if (batch === null || signal.aborted) return;
      if (this.#isNews(batch)) await this.#handle(batch);
      else this.#pass(batch.position);
      if (this.#hasNothingToTake) await this.#waitForEvents();
      else await clock.nextTurn();
    }
  }

  /** False at the end of the log as long as it has not seen that this is the end: a full batch does not say so. */
  get #hasNothingToTake(): boolean {
    const { window, isAtEnd } = this.#tail;
    if (!window.covers(this.#position) || this.#position < window.end) return false;
    return !(this.awaitsEnd && isAtEnd);
  }

  #isNews({ events, caughtUp, position }: EventBatch): boolean {
    if (events.length > 0 || (caughtUp && !this.#isCaughtUp)) return true;
    return this.types === null && position > this.#position;
  }

  async #handle(batch: EventBatch): Promise<void> {
    await this.#options.handle(batch);
    this.#backOff.succeeded();
    this.#outage.succeeded();
    this.#isCaughtUp ||= batch.caughtUp;
    this.#pass(batch.position);
  }

  #pass(position: number): void {
    this.#position = position;
    this.settleWaits();
  }

  #nextOfWindow(): EventBatch {
    const { window, isAtEnd } = this.#tail;
    const taken = window.take(this.#position, this.#isWanted, this.#maxEvents);
    return this.#batchOf(taken, isAtEnd && taken.position >= window.end);
  }

  async #nextAlone(): Promise<EventBatch | null> {
    const { types, exceptTypes, signal } = this.#options;
    const filter = { ...(types && { types }), ...(exceptTypes && { exceptTypes }) };
    const after = this.#position;
    const page = await this.#tail.readPage({ after, maxEvents: this.#maxEvents, ...filter }, signal);
    if (page === null) return null;
    const end = page.position;
    const taken = takeEvents([page], { after, end, isWanted: this.#isWanted, maxEvents: this.#maxEvents });
    return this.#batchOf(taken, page.isEnd && taken.position >= end);
  }

  #batchOf({ events, position, characters }: TakenEvents, isAtEnd: boolean): EventBatch {
    return { events, position, characters, caughtUp: isAtEnd && position >= this.#endAtStart };
  }

  async #waitForEvents(): Promise<void> {
    const { signal } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    this.#tail.waits(this);
    await promise;
    signal.removeEventListener('abort', wake);
    this.#position = this.position;
    this.#wake = null;
  }

  readonly #report = (error: unknown, retryDelayMs: number): void => {
    const { name } = this.#options;
    if (error instanceof UnavailableError) this.#outage.failed(error);
    else this.#tail.log.error({ err: error, retryDelayMs }, `${name} has failed and tries again`);
  };

  #endWaits(): void {
    this.#hasEnded = true;
    for (const wait of this.#waits) wait.end(false);
  }
}

function wantedBy({ types, exceptTypes = [] }: FollowOptions): TypeFilter {
  if (types === undefined) return (type) => !exceptTypes.includes(type);
  const wanted = new Set(types);
  return (type) => wanted.has(type);
}
