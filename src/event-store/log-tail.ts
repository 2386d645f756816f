import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { abortable, delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { EventBatch, RecordedEvent } from './event-store.ts';
import { compareLog, defaultGraceMs, type LogComparison } from './log-comparison.ts';
import { type LogChange, LogDoubts } from './log-doubts.ts';
import { type Following, type FollowOptions, LogFollower, type TailOfFollower } from './log-follower.ts';
import type { LogPage, LogPageRequest, LogPages } from './log-pages.ts';
import { LogTrail } from './log-trail.ts';
import { LogWindow, takeEvents } from './log-window.ts';

export type { Following, FollowOptions } from './log-follower.ts';

export interface LogTailOptions {
  /** The pages of the log. The tail does not close them. */
  readonly pages: LogPages;
  readonly log: Logger;
  /** How long the store may lack events that it had, because the node that answers is behind. Default 10 s. */
  readonly graceMs?: number;
}

/** A part of the log that is stored already. */
export interface PastOptions {
  readonly after: number;
  readonly types?: ReadonlyArray<string>;
  /** Types that are left out. Not together with `types`. */
  readonly exceptTypes?: ReadonlyArray<string>;
  readonly signal: AbortSignal;
}

/** Maximum length of the events in the window. */
const maxCharacters = 2 * 1024 * 1024;
const pageEvents = 1_000;
const retryLimits = { firstMs: 20, maxMs: 500 };

/**
 * The one reader of the log in a thread. It reads each new event once, decodes it once, and hands it to the followers
 * of its type; the others are not woken. It reads while at least one follower waits at the end. A slow follower delays
 * no other: it finds its events in the window, or reads them for itself when they have left it.
 */
export class LogTail implements TailOfFollower {
  readonly window = new LogWindow(maxCharacters);
  readonly trail = new LogTrail();
  readonly log: Logger;
  readonly #pages: LogPages;
  readonly #graceMs: number;
  readonly #outage: OutageLog;
  readonly #followers = new Set<LogFollower>();
  /** Followers by the event types that they receive. */
  readonly #byType = new Map<string, Set<LogFollower>>();
  readonly #ofAll = new Set<LogFollower>();
  readonly #closing = new AbortController();
  readonly #doubts = new LogDoubts(() => this.#compare(() => this.trail.read, this.#closing.signal));
  readonly #stopListening: ReadonlyArray<() => void>;
  #isAtEnd = false;
  /** The position of the last event that is known to be stored. */
  #knownEnd = 0;
  #reading: Promise<void> | null = null;
  /** Ends the wait for new events when no follower waits any more. */
  #idle = new AbortController();

  constructor({ pages, log, graceMs = defaultGraceMs }: LogTailOptions) {
    this.#pages = pages;
    this.#graceMs = graceMs;
    this.log = log;
    this.#outage = new OutageLog(log, 'The event store, whose log is followed,');
    this.#stopListening = [
      pages.changes.onStreamRemoved((stream) => this.window.forget(stream)),
      pages.changes.onDoubt(() => this.#doubts.raise()),
    ];
  }

  /** True if the newest page was the end of the log. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Called when the log no longer has what was read of it. Followers then get nothing more. */
  onChanged(listener: (change: LogChange) => void): () => void {
    return this.#doubts.onChanged(listener);
  }

  /** Follows the log until the signal aborts or the tail is closed. */
  follow(options: FollowOptions): Following {
    const ending = new AbortController();
    const end = () => ending.abort();
    for (const signal of [options.signal, this.#closing.signal]) {
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
    }
    const follower = new LogFollower(this, { ...options, signal: ending.signal });
    this.#add(follower);
    const removed = () => {
      for (const signal of [options.signal, this.#closing.signal]) signal.removeEventListener('abort', end);
      this.#remove(follower);
    };
    follower.ended.then(removed, removed);
    return follower;
  }

  /** Reads the past up to the end of the log. Repeats failed reads. Ends early when the signal aborts. */
  async *past({ after, signal: callerSignal, ...filter }: PastOptions): AsyncGenerator<EventBatch, void, void> {
    const signal = AbortSignal.any([callerSignal, this.#closing.signal]);
    const isWanted = (type: string) => filter.types?.includes(type) ?? !filter.exceptTypes?.includes(type);
    const end = (await this.readEnd(signal)) ?? 0;
    for (let position = after; position < end; await clock.nextTurn()) {
      const page = await this.readPage({ after: position, maxEvents: pageEvents, ...filter }, signal);
      if (page === null) return;
      const maxEvents = Number.POSITIVE_INFINITY;
      const taken = takeEvents([page], { after: position, end: page.position, isWanted, maxEvents });
      position = taken.position;
      yield { ...taken, caughtUp: position >= end };
    }
  }

  /**
   * @param waits for the event while the log is empty
   * @returns null if the log is empty, or if the signal aborts first
   */
  async firstEvent(callerSignal: AbortSignal, waits = true): Promise<RecordedEvent | null> {
    const signal = AbortSignal.any([callerSignal, this.#closing.signal]);
    for (let after = 0; ; ) {
      const page = await this.readPage({ after, maxEvents: 1 }, signal);
      if (page === null) return null;
      const [first] = page.events;
      if (first !== undefined) return first;
      // A server may have events of other applications before the first one of ours. A page from memory may be older
      // than those that follow it, so only a page that covers nothing is the end.
      const isEnd = page.position === after;
      if (isEnd && !waits) return null;
      if (isEnd) await this.#waitPast(after, signal);
      after = page.position;
    }
  }

  /**
   * Compares the log with an earlier run, and continues from what was read then as far as it is the same.
   * @returns null if the signal aborts first
   */
  async compare(read: ReadOfLog, callerSignal: AbortSignal): Promise<LogComparison | null> {
    const signal = AbortSignal.any([callerSignal, this.#closing.signal]);
    const compared = await this.#compare(() => read, signal);
    if (compared === null) return null;
    const { lost, common } = compared;
    const marks = read.marks.filter(({ position }) => position <= (common?.position ?? 0));
    this.trail.add({ marks, readTo: lost === null ? read.readTo : 0 });
    return compared;
  }

  async readPage(request: LogPageRequest, signal: AbortSignal): Promise<LogPage | null> {
    const page = await this.#repeat(() => this.#readUndoubted(request), signal);
    if (page === null) return null;
    this.#outage.succeeded();
    this.trail.addPage(page, request.types === undefined && request.exceptTypes === undefined);
    if (page.position > page.after) this.#knownEnd = Math.max(this.#knownEnd, page.position);
    return page;
  }

  /** Reads a page again if its read began before a doubt, because it may be of the log before. */
  async #readUndoubted(request: LogPageRequest): Promise<LogPage> {
    for (;;) {
      const { raised } = this.#doubts;
      const page = await this.#pages.readPage(request);
      await this.#doubts.settled();
      if (raised === this.#doubts.raised) return page;
    }
  }

  async #compare(read: () => ReadOfLog, signal: AbortSignal): Promise<LogComparison | null> {
    const options = { pages: this.#pages, graceMs: this.#graceMs, signal };
    const compared = await this.#repeat(() => compareLog(read(), options), signal);
    if (compared !== null) this.#outage.succeeded();
    return compared;
  }

  async readEnd(signal: AbortSignal): Promise<number | null> {
    const end = await this.#repeat(() => this.#pages.lastPosition(), signal);
    if (end === null) return null;
    this.#outage.succeeded();
    this.#knownEnd = Math.max(this.#knownEnd, end);
    // While no follower waits, nothing reads the events after the window.
    if (this.#reading === null && end >= this.window.end) this.#moveTo(end, true);
    return end;
  }

  waits(follower: LogFollower): void {
    // A follower that has read further alone takes the idle tail with it. One beyond the end of the log does not.
    const position = Math.min(follower.position, this.#knownEnd);
    if (this.#reading === null && position > this.window.end) this.#moveTo(position, false);
    follower.settleWaits();
    this.#startReading();
  }

  /** Waits for what each follower is handling. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#idle.abort();
    for (const stop of this.#stopListening) stop();
    await Promise.allSettled([...this.#followers].map(({ ended }) => ended));
    await this.#reading;
  }

  get #isWanted(): boolean {
    if (this.#closing.signal.aborted) return false;
    for (const follower of this.#followers) if (follower.isWaiting) return true;
    return false;
  }

  #startReading(): void {
    this.#reading ??= this.#readWhileWaiting().finally(() => {
      this.#reading = null;
      if (this.#isWanted) this.#startReading();
    });
  }

  async #readWhileWaiting(): Promise<void> {
    this.#idle = new AbortController();
    const { signal } = this.#idle;
    while (this.#isWanted && !signal.aborted) {
      if (this.#isAtEnd) await this.#waitPast(this.window.end, signal);
      if (!this.#isWanted || signal.aborted) return;
      const before = this.window.end;
      const page = await this.readPage({ after: before, maxEvents: pageEvents }, signal);
      if (page === null) return;
      this.#isAtEnd = page.isEnd;
      this.window.add(page);
      this.#wakeFollowers(page, before);
      if (!page.isEnd) await clock.nextTurn();
    }
  }

  async #waitPast(position: number, signal: AbortSignal): Promise<void> {
    await this.#repeat(() => this.#pages.changes.waitPast(position, signal), signal);
  }

  #wakeFollowers({ events, position }: LogPage, before: number): void {
    const woken = new Set<LogFollower>();
    if (position > before) for (const follower of this.#ofAll) woken.add(follower);
    for (const { type } of events) for (const follower of this.#byType.get(type) ?? []) woken.add(follower);
    for (const follower of this.#followers) {
      if (!follower.isWaiting) continue;
      if (woken.has(follower) || follower.awaitsEnd) follower.wake(before);
      else follower.settleWaits();
    }
  }

  #moveTo(position: number, isEnd: boolean): void {
    if (position > this.window.end) this.window.moveTo(position);
    this.#isAtEnd = isEnd;
  }

  /** Repeats a call until the store answers. One line in the log says when it does not, and one when it does again. */
  async #repeat<Result>(call: () => Promise<Result>, signal: AbortSignal): Promise<Result | null> {
    const backOff = new BackOff(retryLimits);
    while (!signal.aborted) {
      try {
        // A call may take minutes, and a stop must not wait for it.
        return await abortable(signal, call);
      } catch (error) {
        if (signal.aborted) return null;
        if (error instanceof UnavailableError) this.#outage.failed(error);
        else this.log.error({ err: error }, 'The log cannot be followed and is tried again');
        await delay(backOff.failed(), signal);
      }
    }
    return null;
  }

  #add(follower: LogFollower): void {
    this.#followers.add(follower);
    if (follower.types === null) this.#ofAll.add(follower);
    for (const type of follower.types ?? []) {
      const ofType = this.#byType.get(type) ?? new Set();
      this.#byType.set(type, ofType.add(follower));
    }
  }

  #remove(follower: LogFollower): void {
    this.#followers.delete(follower);
    this.#ofAll.delete(follower);
    for (const type of follower.types ?? []) {
      const ofType = this.#byType.get(type);
      ofType?.delete(follower);
      if (ofType?.size === 0) this.#byType.delete(type);
    }
    if (!this.#isWanted) this.#idle.abort();
  }
}
