import * as E from 'fp-ts/lib/Either.js';
import type { CommitStatistics } from '#event-store/commit-statistics.ts';
import type { Appended, AppendFailure, EventToAppend } from '#event-store/event-store.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import { withTimeout } from '#shared/async/with-timeout.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type Attempt, attemptOf, failedAttemptOf } from './append-attempt.ts';
import type { Connection } from './connection.ts';
import { eventOf, positionOf } from './event-message.ts';
import type { Reads } from './reads.ts';
import { appendRequests, streamRequest } from './requests.ts';
import type { StoreLog } from './store-log.ts';

type Outcome = E.Either<AppendFailure, Appended>;

/** The events of this stream were hidden, or the stream closed, by someone else's delete. */
export class StreamDeletedError extends Error {
  override readonly name = 'StreamDeleted';
}

export interface AppendLimits {
  /** What the caller waits at most. */
  readonly answerWithinMs: number;
  /** What one try waits for its answer at most. */
  readonly attemptMs: number;
  /** How long an append whose answer was lost is tried again, all in all. */
  readonly settleWithinMs: number;
  /** Appends that are not settled, at most; what comes beyond is `unavailable`. */
  readonly maxPending: number;
  /** Their bytes together, at most. */
  readonly maxPendingBytes: number;
}

interface Append {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: ReadonlyArray<EventToAppend>;
}

const retryAfterSeconds = 1;

/**
 * Appends, each tried until it is known what became of it: an append whose answer was lost is sent again with the same
 * ids and the same expected revision, which the server answers as the first time. The caller is told at its deadline
 * that the store is unavailable; settling goes on behind it.
 */
export class Appends {
  readonly #connection: Connection;
  readonly #reads: Reads;
  readonly #limits: AppendLimits;
  readonly #log: StoreLog;
  readonly #onCommit: (statistics: CommitStatistics) => void;
  readonly #pending = new Set<Promise<unknown>>();
  readonly #giveUp = new AbortController();
  #pendingBytes = 0;
  #closing = false;
  /** The highest position that an append was answered with. */
  #highestPosition = 0;

  constructor(
    connection: Connection,
    reads: Reads,
    limits: AppendLimits,
    log: StoreLog,
    onCommit: (statistics: CommitStatistics) => void,
  ) {
    this.#connection = connection;
    this.#reads = reads;
    this.#limits = limits;
    this.#log = log;
    this.#onCommit = onCommit;
  }

  /**
   * @param bytes what the append stores
   * @throws StreamDeletedError
   */
  async append(append: Append, bytes: number): Promise<Outcome> {
    const { maxPending, maxPendingBytes, answerWithinMs } = this.#limits;
    if (this.#closing) return unavailable('The event store is closing.');
    if (this.#pending.size >= maxPending || this.#pendingBytes + bytes > maxPendingBytes)
      return unavailable('Too many writes are waiting for the event store.');
    const settled = this.#settle(append, bytes);
    this.#keep(settled, bytes);
    return withTimeout(answerWithinMs, settled, unavailable('The event store does not answer in time.'));
  }

  /**
   * Lets what was accepted finish, for so long at most; refuses the rest. What is not settled then stays as it is:
   * stored, or not.
   */
  async close(milliseconds: number): Promise<void> {
    this.#closing = true;
    const limit = setTimeout(() => this.#giveUp.abort(), milliseconds);
    await Promise.allSettled(this.#pending);
    clearTimeout(limit);
  }

  #keep(settled: Promise<Outcome>, bytes: number): void {
    this.#pendingBytes += bytes;
    const kept = settled
      // The caller is told, unless its time is up: then only the log is.
      .catch((error: unknown) => this.#log.error({ error }, 'an append could not be settled'))
      .finally(() => {
        this.#pending.delete(kept);
        this.#pendingBytes -= bytes;
      });
    this.#pending.add(kept);
  }

  async #settle(append: Append, bytes: number): Promise<Outcome> {
    const began = performance.now();
    const result = await this.#tryUntilKnown(append);
    switch (result.kind) {
      case 'appended':
        this.#onCommit({ appends: 1, events: append.events.length, milliseconds: performance.now() - began });
        return E.right({ revision: result.revision, position: result.position });
      case 'conflict':
        return E.left(result);
      case 'too-large':
        return E.left({ kind: 'append-too-large', bytes, maxBytes: result.maxBytes });
      case 'stream-deleted':
        throw new StreamDeletedError(
          `The stream ${append.stream} was deleted in EventStoreDB: an append cannot stand in it.`,
        );
      case 'refused':
        this.#log.error({ detail: result.detail }, 'EventStoreDB refuses an append');
        return unavailable('The event store refuses writes.');
      case 'lost':
        this.#log.error({ detail: result.detail, stream: append.stream }, 'an append is given up unsettled');
        return unavailable('The event store does not answer.');
    }
  }

  /** Tries until the outcome is known, or there is no more time for it. */
  async #tryUntilKnown(append: Append): Promise<Result> {
    const requests = appendRequests(append.stream, append.expectedRevision, append.events);
    const end = Date.now() + this.#limits.settleWithinMs;
    const highestBefore = this.#highestPosition;
    const backOff = new BackOff({ firstMs: 20, longestMs: 1_000 });
    for (let tries = 1; ; tries += 1) {
      const attempt = await this.#connection
        .append(requests, this.#limits.attemptMs)
        .then(attemptOf)
        .catch(failedAttemptOf);
      const result = await this.#resultOf(append, attempt, tries > 1, highestBefore).catch(lostWhileRead);
      if (result.kind !== 'lost' || Date.now() > end || this.#giveUp.signal.aborted) return result;
      this.#log.debug({ detail: result.detail, stream: append.stream, tries }, 'the answer to an append was lost');
      await delay(backOff.failed(), this.#giveUp.signal);
    }
  }

  /** @throws UnavailableError when what the attempt came to cannot be read just now */
  async #resultOf(append: Append, attempt: Attempt, isRepeated: boolean, highestBefore: number): Promise<Result> {
    if (attempt.kind === 'stored') return this.#appended(append, attempt, isRepeated, highestBefore);
    if (attempt.kind !== 'conflict' || !isRepeated) return attempt;
    // A try before, whose answer was lost, may be what this one conflicts with.
    const last = append.expectedRevision + append.events.length;
    const position = await this.#positionOfLast(append, last);
    return position === null ? attempt : { kind: 'appended', revision: last, position };
  }

  async #appended(
    append: Append,
    { revision, position }: Attempt & { readonly kind: 'stored' },
    isRepeated: boolean,
    highestBefore: number,
  ): Promise<Result> {
    // New events lie past all that was answered before they were sent. Any others were stored by an earlier append,
    // whose repeat may be answered with its first position, or with none where they are hidden by now.
    const isNew = position !== null && !isRepeated && position > highestBefore;
    const isLast = position !== null && append.events.length === 1;
    const last = isNew || isLast ? position : await this.#positionOfLast(append, revision);
    if (last === null) return { kind: 'stream-deleted' };
    if (revision !== append.expectedRevision + append.events.length)
      this.#log.error(
        { stream: append.stream, revision, expectedRevision: append.expectedRevision },
        'an append stands at another revision than expected: its stream was deleted from outside before',
      );
    this.#highestPosition = Math.max(this.#highestPosition, last);
    return { kind: 'appended', revision, position: last };
  }

  /** Null when the last event is not this append's. */
  async #positionOfLast(append: Append, revision: number): Promise<number | null> {
    const [answer] = await this.#reads.answers(streamRequest(append.stream, revision, 1));
    const event = answer === undefined ? undefined : eventOf(answer);
    const isOurs = event?.getId()?.getString() === append.events.at(-1)?.id.toLowerCase();
    return event !== undefined && isOurs ? positionOf(event) : null;
  }
}

/** What is known of an append after a try, and after what had to be read. */
type Result = Exclude<Attempt, { readonly kind: 'stored' }> | ({ readonly kind: 'appended' } & Appended);

function lostWhileRead(error: unknown): Result {
  if (error instanceof UnavailableError) return { kind: 'lost', detail: error.message };
  throw error;
}

function unavailable(detail: string): Outcome {
  return E.left({ kind: 'unavailable', detail, retryAfterSeconds });
}
