import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { bytesOf, eventOf } from '#event-store/eventstoredb/wire/requests.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { delay, withTimeoutError } from '#shared/async/timed-waits.ts';
import type { Availability, UnavailableCause } from '#shared/availability/availability.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import {
  callFailure,
  eventStoreClosedError,
  isDeleted,
  isInvalidPosition,
  isLoginRefusal,
  isRefusal,
  outageError,
  StreamClosedError,
  TimedOutError,
  unavailableError,
} from './call-failure.ts';
import { endCall, type LeaderConnection } from './connection.ts';
import type { ReadCall } from './node-link.ts';

export interface ReadsOptions {
  readonly attemptMs: number;
  /** Time limit of a read with all its attempts. */
  readonly deadlineMs: number;
  /** True to retry while the server is known to be unavailable. */
  readonly retriesWhenUnavailable: boolean;
  readonly explain: (refusal: unknown) => Promise<UnavailableCause>;
}

export interface ReadAnswers {
  readonly answers: ReadonlyArray<ReadResp>;
  readonly isWhole: boolean;
}

/** The log has no event at the position of a read: the server has another log than the one that gave the position. */
export class InvalidPositionError extends UnavailableError {
  constructor() {
    super('The event store has no event at a position that it gave before.');
  }
}

/** Makes the reads that end. */
export class Reads {
  readonly #connection: LeaderConnection;
  readonly #availability: Availability;
  readonly #options: ReadsOptions;
  readonly #closed = new AbortController();

  constructor(connection: LeaderConnection, availability: Availability, options: ReadsOptions) {
    this.#connection = connection;
    this.#availability = availability;
    this.#options = options;
  }

  /**
   * Reads answers, and retries until its deadline, because reading twice does no harm.
   * @param maxBytes the bytes of events after which it does not wait for more; it returns at least two events
   * @throws UnavailableError; StreamClosedError; InvalidPositionError
   */
  async answers(
    request: ReadReq,
    maxBytes = Number.POSITIVE_INFINITY,
    attemptMs = this.#options.attemptMs,
  ): Promise<ReadonlyArray<ReadResp>> {
    const end = Date.now() + Math.max(this.#options.deadlineMs, attemptMs);
    const backOff = new BackOff({ firstMs: 20, maxMs: 500 });
    for (;;) {
      await this.#ensureOpen();
      const left = Math.min(end - Date.now(), attemptMs);
      const result = await this.#failWhenUnavailable(this.#once(request, maxBytes, left)).catch((error: unknown) => ({
        error,
      }));
      if (!('error' in result)) return result;
      if (isDeleted(callFailure(result.error))) throw new StreamClosedError('The stream was deleted in EventStoreDB.');
      if (isInvalidPosition(callFailure(result.error))) throw new InvalidPositionError();
      const wait = backOff.failed();
      if (isFinal(result.error) || Date.now() + wait >= end) throw await this.#explained(result.error);
      await delay(wait, this.#closed.signal);
    }
  }

  /**
   * Reads a page with one call, which runs while the server is available, because it may have to skip many events of
   * other applications. If the call fails, earlier answers are kept.
   * @param maxBytes as for `answers`
   * @throws UnavailableError if there are no answers; InvalidPositionError
   */
  async page(request: ReadReq, maxBytes: number, deadlineMs: number): Promise<ReadAnswers> {
    await this.#ensureOpen();
    try {
      const limits = { maxBytes, deadlineMs, keepsPart: true };
      return await this.#failWhenUnavailable(readOnce(this.#connection, request, limits));
    } catch (error) {
      if (isInvalidPosition(callFailure(error))) throw new InvalidPositionError();
      throw await this.#explained(error);
    }
  }

  /** Running reads end with the connection, not here. */
  close(): void {
    this.#closed.abort();
  }

  async #explained(error: unknown): Promise<UnavailableError> {
    const failure = callFailure(error);
    if (!isRefusal(failure)) return unavailableError('cannot be read', error);
    const cause = await this.#options.explain(error);
    // The probe gets the same answer, so the line of the outage names the cause.
    return isLoginRefusal(failure) ? outageError('cannot be read', cause) : unavailableError('cannot be read', cause);
  }

  async #ensureOpen(): Promise<void> {
    if (this.#closed.signal.aborted) throw eventStoreClosedError();
    const { cause } = this.#availability;
    if (cause === null || this.#options.retriesWhenUnavailable) return;
    // A caller that retries immediately must not block the answer of a probe.
    await nextTurn();
    throw outageError('cannot be read', cause);
  }

  #failWhenUnavailable<Value>(work: Promise<Value>): Promise<Value> {
    if (this.#options.retriesWhenUnavailable) return work;
    return this.#availability.failWhenUnavailable(work, (cause) => {
      throw outageError('cannot be read', cause);
    });
  }

  async #once(request: ReadReq, maxBytes: number, deadlineMs: number): Promise<ReadonlyArray<ReadResp>> {
    return (await readOnce(this.#connection, request, { maxBytes, deadlineMs, keepsPart: false })).answers;
  }
}

/** True if a retry does not help. */
function isFinal(error: unknown): boolean {
  if (error instanceof UnavailableError) return true;
  return isRefusal(callFailure(error));
}

export interface StreamReadLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
  /** True to return the answers before a failure instead of the failure. */
  readonly keepsPart: boolean;
}

/** @throws the call's failure, or TimedOutError */
export async function readOnce(
  connection: LeaderConnection,
  request: ReadReq,
  limits: StreamReadLimits,
): Promise<ReadAnswers> {
  const { deadlineMs } = limits;
  const end = Date.now() + deadlineMs;
  const call = await connection.read(request, deadlineMs, deadlineMs);
  const maxEvents = Number(request.getOptions()?.getCount());
  const answers = new AnswersOfCall(call, maxEvents, limits);
  return withTimeoutError(
    Math.max(end - Date.now(), 0) + 100,
    answers.finished,
    () => new TimedOutError(deadlineMs),
  ).finally(() => endCall(call));
}

class AnswersOfCall {
  readonly finished: Promise<ReadAnswers>;

  /** @param maxEvents of the request. The server reads on before it ends a call that has them, so this ends it. */
  constructor(call: ReadCall, maxEvents: number, { maxBytes, keepsPart }: StreamReadLimits) {
    const { promise, resolve, reject } = Promise.withResolvers<ReadAnswers>();
    this.finished = promise;
    const answers: ReadResp[] = [];
    let events = 0;
    let bytes = 0;
    call.on('data', (answer: ReadResp) => {
      const event = eventOf(answer);
      if (event !== undefined) {
        if (events >= 2 && bytes > maxBytes) return resolve({ answers, isWhole: false });
        events += 1;
        bytes += bytesOf(event);
      }
      answers.push(answer);
      if (events === maxEvents) resolve({ answers, isWhole: true });
    });
    const fail = (error: Error) => {
      if (keepsPart && events > 0) resolve({ answers, isWhole: false });
      else reject(error);
    };
    call.on('error', fail);
    call.on('end', () => resolve({ answers, isWhole: true }));
    call.on('close', () => fail(new Error('The read was closed.')));
  }
}
