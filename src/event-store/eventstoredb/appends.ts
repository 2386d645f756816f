import type { AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import * as E from 'fp-ts/lib/Either.js';
import { isShortenedOnPurpose } from '#domain/stream-kinds.ts';
import { AppendPlace } from '#event-store/append-limits.ts';
import { type AppendFailure, type AppendResult, type CommitStatistics, noStream } from '#event-store/event-store.ts';
import {
  type CallFailure,
  callFailure,
  isDeleted,
  isRefusal,
  StreamClosedError,
  trailerOf,
  unavailableError,
} from '#event-store/eventstoredb/connection/call-failure.ts';
import type { LeaderConnection } from '#event-store/eventstoredb/connection/connection.ts';
import type { Reads } from '#event-store/eventstoredb/connection/reads.ts';
import { appendRequests, eventOf, positionOf, streamRequest } from '#event-store/eventstoredb/wire/requests.ts';
import type { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import type { FairPlaces } from '#shared/async/fair-queue.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import type { Availability, UnavailableCause } from '#shared/availability/availability.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import { type Append, AppendLines } from './append-lines.ts';
import type { UnreadableStreams } from './unreadable-streams.ts';
import type { WriteAccess } from './write-access.ts';

type Outcome = E.Either<AppendFailure, AppendResult>;

export interface AppendLimits {
  /** Maximum size of an append. The server's own limit may be lower. */
  readonly maxAppendBytes: number;
  /** How long the caller waits. */
  readonly answerWithinMs: number;
  readonly attemptMs: number;
  /** Maximum time in total, for an append with a lost answer. */
  readonly settleWithinMs: number;
  /** True to retry while the server is known to be unavailable. */
  readonly retriesWhenUnavailable: boolean;
}

export interface AppendsOptions {
  readonly connection: LeaderConnection;
  readonly availability: Availability;
  readonly reads: Reads;
  readonly writeAccess: WriteAccess;
  readonly names: StreamNames;
  readonly unreadable: UnreadableStreams;
  readonly limits: AppendLimits;
  /** The room for the appends whose outcome is not known yet. */
  readonly room: FairPlaces;
  readonly log: DebugLogger;
  readonly onCommit: (statistics: CommitStatistics) => void;
  /** Called with the position of each append to the log that is stored, also after its caller got `unavailable`. */
  readonly onStored: (position: number) => void;
}

const retryAfterSeconds = 1;

/**
 * Retries each append until its outcome is known: an append with a lost answer is sent again with the same ids and
 * expected revision, and the server gives the first answer again. At its deadline, or as soon as the server is known to
 * be unavailable, the caller gets an error; the retries continue.
 */
export class Appends {
  readonly #options: AppendsOptions;
  readonly #pending = new Set<Promise<unknown>>();
  readonly #giveUp = new AbortController();
  readonly #lines = new AppendLines((append, bytes, appends) => this.#settle(append, bytes, appends));
  #closing = false;
  /** The highest position in an answer to an append. */
  #highestPosition = 0;

  constructor(options: AppendsOptions) {
    this.#options = options;
  }

  /**
   * @param lastEventId the id of the event that it was decided on, if that may not be stored yet
   * @throws UnreadableStreamError
   */
  async append(append: Append, bytes: number, lastEventId?: string): Promise<Outcome> {
    const { availability, limits, room } = this.#options;
    const { answerWithinMs, retriesWhenUnavailable } = limits;
    if (this.#closing) return unavailable('The event store is closing.');
    if (availability.cause !== null && !retriesWhenUnavailable) return this.#refuse(availability.cause);
    const place = AppendPlace.take(room, bytes);
    if (place === null) return unavailable('Too many writes are waiting for the event store.');
    const settled = this.#lines.add(append, bytes, lastEventId);
    this.#keep(settled, place);
    const answer = withTimeout(answerWithinMs, settled, unavailable('The event store does not answer in time.'));
    const outcome = await (retriesWhenUnavailable ? answer : availability.failWhenUnavailable(answer, unavailableFor));
    if (E.isLeft(outcome) && outcome.left.kind === 'unavailable') place.keep();
    return outcome;
  }

  /**
   * Fails in a later turn of the event loop, so that a caller that retries immediately does not block the answer of a
   * probe.
   */
  async #refuse(cause: UnavailableCause): Promise<Outcome> {
    await clock.nextTurn();
    return unavailableFor(cause);
  }

  /** Finishes accepted appends, up to the time limit, and refuses others. The outcome of the rest remains unknown. */
  async close(milliseconds: number): Promise<void> {
    this.#closing = true;
    const limit = clock.setTimeout(() => this.#giveUp.abort(), milliseconds);
    await Promise.allSettled(this.#pending);
    clock.clearTimeout(limit);
  }

  #keep(settled: Promise<Outcome>, place: AppendPlace): void {
    const kept = settled
      // The caller gets the error too, unless its deadline has passed.
      .catch((error: unknown) => {
        if (!(error instanceof UnreadableStreamError))
          this.#options.log.error({ err: error }, 'an append could not be settled');
      })
      .finally(() => {
        this.#pending.delete(kept);
        place.leave();
      });
    this.#pending.add(kept);
  }

  async #settle(append: Append, bytes: number, appends: number): Promise<Outcome> {
    const began = clock.now();
    const result = await this.#tryUntilKnown(append);
    switch (result.kind) {
      case 'appended':
        if (this.#options.names.isFollowed(append.stream)) this.#options.onStored(result.position);
        this.#options.onCommit({ appends, events: append.events.length, milliseconds: clock.now() - began });
        return E.right({ revision: result.revision, position: result.position });
      case 'conflict':
        return E.left(result);
      case 'too-large':
        return E.left({
          kind: 'append-too-large',
          bytes,
          maxBytes: result.maxBytes ?? this.#options.limits.maxAppendBytes,
        });
      case 'stream-deleted':
        throw this.#unreadable(append, null, 'it was deleted in EventStoreDB');
      case 'misplaced':
        throw this.#unreadable(append, result.firstRevision, 'it was deleted in EventStoreDB before this append');
      case 'refused':
        return this.#refused(append.stream, result.refusal);
      case 'lost':
        this.#options.log.error({ detail: result.detail, stream: append.stream }, 'an append is given up unsettled');
        return unavailable('The event store does not answer.');
    }
  }

  async #refused(stream: string, refusal: unknown): Promise<Outcome> {
    const { writeAccess, names } = this.#options;
    const { detail } = await writeAccess.refused(names.onServer(stream), refusal);
    return unavailable(`The event store refuses writes: ${detail}.`);
  }

  /** Tries until the outcome is known or the time limit has passed. */
  async #tryUntilKnown(append: Append): Promise<Result> {
    const { connection, availability, writeAccess, names, limits } = this.#options;
    const requests = appendRequests(names.onServer(append.stream), append.expectedRevision, append.events);
    const end = clock.time() + limits.settleWithinMs;
    const highestBefore = this.#highestPosition;
    const backOff = new BackOff({ firstMs: 20, maxMs: 1_000 });
    for (let tries = 1; ; tries += 1) {
      const attempt = await connection.append(requests, limits.attemptMs).then(attemptOf).catch(failedAttemptOf);
      if (attempt.kind === 'stored' || attempt.kind === 'conflict') writeAccess.proved();
      const result = await this.#resultOf(append, attempt, tries > 1, highestBefore).catch(lostWhileRead);
      if (result.kind !== 'lost' || clock.time() > end || this.#giveUp.signal.aborted) return result;
      this.#options.log.debug(
        { detail: result.detail, stream: append.stream, tries },
        'the answer to an append was lost',
      );
      await availability.waitForRecovery(backOff.failed(), this.#giveUp.signal);
    }
  }

  /** @throws UnavailableError if the outcome of the attempt cannot be read now */
  async #resultOf(append: Append, attempt: AppendAttempt, isRepeated: boolean, highestBefore: number): Promise<Result> {
    if (attempt.kind === 'stored') return this.#appended(append, attempt, isRepeated, highestBefore);
    if (attempt.kind !== 'conflict' || !isRepeated) return attempt;
    // The conflict may be with an earlier attempt whose answer was lost.
    const last = append.expectedRevision + append.events.length;
    const position = await this.#positionOfLast(append, last);
    return position === null ? attempt : { kind: 'appended', revision: last, position };
  }

  async #appended(
    append: Append,
    { revision, position }: AppendAttempt & { readonly kind: 'stored' },
    isRepeated: boolean,
    highestBefore: number,
  ): Promise<Result> {
    // New events have higher positions than every answer from before they were sent. Other events were stored by an
    // earlier append. The answer to its repetition may name its first position, or none if the events are hidden by
    // now.
    const isNew = position !== null && !isRepeated && position > highestBefore;
    const isLast = position !== null && append.events.length === 1;
    const last = isNew || isLast ? position : await this.#positionOfLast(append, revision);
    if (last === null) return { kind: 'stream-deleted' };
    this.#highestPosition = Math.max(this.#highestPosition, last);
    const firstRevision = revision - append.events.length + 1;
    // A deleted stream accepts an append for a new one, and continues its revisions.
    if (firstRevision !== append.expectedRevision + 1 && !isShortenedOnPurpose(append.stream))
      return { kind: 'misplaced', firstRevision };
    return { kind: 'appended', revision, position: last };
  }

  #unreadable({ stream, expectedRevision }: Append, foundRevision: number | null, reason: string) {
    const gap = { stream, expectedRevision: expectedRevision + 1, foundRevision };
    return this.#options.unreadable.errorOf(gap, reason);
  }

  /** The position of the last event; null if the stream has another event there. */
  async #positionOfLast(append: Append, revision: number): Promise<number | null> {
    const [answer] = await this.#options.reads.answers(
      streamRequest(this.#options.names.onServer(append.stream), revision, 1),
    );
    const event = answer === undefined ? undefined : eventOf(answer);
    const isOurs = event?.getId()?.getString() === append.events.at(-1)?.id.toLowerCase();
    return event !== undefined && isOurs ? positionOf(event) : null;
  }
}

/** What is known after an attempt and the reads that it needed. */
type Result =
  | Exclude<AppendAttempt, { readonly kind: 'stored' }>
  | ({ readonly kind: 'appended' } & AppendResult)
  /** The append was stored at another revision than expected. */
  | { readonly kind: 'misplaced'; readonly firstRevision: number };

function lostWhileRead(error: unknown): Result {
  if (error instanceof UnavailableError) return { kind: 'lost', detail: error.message };
  if (error instanceof StreamClosedError) return { kind: 'stream-deleted' };
  throw error;
}

function unavailable(detail: string): Outcome {
  return E.left({ kind: 'unavailable', detail, retryAfterSeconds });
}

function unavailableFor(cause: UnavailableCause): Outcome {
  const detail = unavailableError('cannot take writes', cause).message;
  return E.left({ kind: 'unavailable', detail, retryAfterSeconds, isOutage: true });
}

export type AppendAttempt =
  /** `position` is null if the server does not report it, because a later delete hides the events. */
  | { readonly kind: 'stored'; readonly revision: number; readonly position: number | null }
  /** The append was not stored by this attempt. */
  | { readonly kind: 'conflict'; readonly actualRevision: number }
  /**
   * The append was not stored: the server's own limit is lower than ours. `maxBytes` is null if the server does not
   * name it.
   */
  | { readonly kind: 'too-large'; readonly maxBytes: number | null }
  /** Its stream was deleted from outside: it was closed permanently (tombstoned), or hides the events. */
  | { readonly kind: 'stream-deleted' }
  /** The append is not stored until a person changes something. */
  | { readonly kind: 'refused'; readonly refusal: unknown }
  /** There was no answer. The append may have been stored. */
  | { readonly kind: 'lost'; readonly detail: string };

/** @throws RangeError for a position that is too large */
export function attemptOf(answer: AppendResp): AppendAttempt {
  const conflict = answer.getWrongExpectedVersion();
  if (conflict !== undefined) {
    const actualRevision = conflict.hasCurrentRevision() ? Number(conflict.getCurrentRevision()) : noStream;
    return { kind: 'conflict', actualRevision };
  }
  const success = answer.getSuccess();
  if (success === undefined) return { kind: 'lost', detail: 'The answer says nothing.' };
  const position = success.getPosition();
  return {
    kind: 'stored',
    revision: success.hasCurrentRevision() ? Number(success.getCurrentRevision()) : noStream,
    position: position === undefined ? null : positionOf(position),
  };
}

/** Unless the call was refused, the append may have been stored. */
export function failedAttemptOf(error: unknown): AppendAttempt {
  const failure = callFailure(error);
  if (isDeleted(failure)) return { kind: 'stream-deleted' };
  const trailer = exceededLimit(failure);
  if (trailer !== null) return { kind: 'too-large', maxBytes: bytesIn(trailerOf(error, trailer)) };
  if (isRefusal(failure)) return { kind: 'refused', refusal: error };
  return { kind: 'lost', detail: failure.detail };
}

/** Reads the trailer with the server's limit: that of all its events, or, from 24.10.5 on, that of each event. */
function exceededLimit({ exception }: CallFailure): string | null {
  if (exception === 'maximum-append-size-exceeded') return 'maximum-append-size';
  if (exception === 'maximum-append-event-size-exceeded') return 'maximum-append-event-size';
  return null;
}

function bytesIn(trailer: string | undefined): number | null {
  const bytes = Number(trailer);
  return Number.isSafeInteger(bytes) ? bytes : null;
}
