import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { endCall, type LeaderConnection } from '#event-store/eventstoredb/connection/connection.ts';
import type { ReadCall } from '#event-store/eventstoredb/connection/node-link.ts';
import { eventOf, positionOf, subscriptionRequest } from '#event-store/eventstoredb/wire/requests.ts';
import type { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { BackOff } from '#shared/async/retrying.ts';
import type { Availability } from '#shared/availability/availability.ts';

/**
 * A part of the log without events of ours: there is none after `after` and before `before`. It only spares the server a
 * scan of the events of other applications. No position of a reader moves by it.
 */
export interface ForeignStretch {
  readonly after: number;
  /** The position of an event of any application. */
  readonly before: number;
}

export interface WakeUpListener {
  /** The position after which new events are wanted. */
  readonly end: () => number;
  readonly onStored: (position: number) => void;
  readonly onForeign: (stretch: ForeignStretch) => void;
}

/**
 * Limits of the pause before an ended subscription is opened again. Meanwhile the end of the log is read more often.
 */
const reopenLimits = { firstMs: 100, maxMs: 5_000 };

/** Maximum time between two reads of the end of the log, next to a confirmed subscription, and without one. */
const longestPollMs = 1_000;
export const shortestPollMs = 200;

/**
 * Reports stored events soon after they are stored. It may miss some, and may report one twice. It subscribes from the known
 * end of the log, and uses only the positions of events, so nothing is lost if the server drops the subscription as too slow.
 * Version 23.10 does that whenever more than 32 events are on their way.
 *
 * A server confirms a subscription although it is not the leader, and keeps it when it ceases to be. The reads next to it
 * find the leader, so the subscription follows the connection to another node.
 */
export class WakeUpSubscription {
  readonly #connection: LeaderConnection;
  readonly #availability: Availability;
  readonly #names: StreamNames;
  readonly #startMs: number;
  #isConfirmed = false;

  /** @param startMs the time until the call is sent */
  constructor(connection: LeaderConnection, availability: Availability, names: StreamNames, startMs: number) {
    this.#connection = connection;
    this.#availability = availability;
    this.#names = names;
    this.#startMs = startMs;
  }

  /** The present time between two reads of the end of the log. */
  get pollMs(): number {
    return this.#isConfirmed ? longestPollMs : shortestPollMs;
  }

  /** @returns a function that stops the reports */
  start(listener: WakeUpListener): () => void {
    const stopped = new AbortController();
    void this.#keepOpen(listener, stopped.signal);
    return () => stopped.abort();
  }

  async #keepOpen(listener: WakeUpListener, signal: AbortSignal): Promise<void> {
    const backOff = new BackOff(reopenLimits);
    while (!signal.aborted) {
      const wasConfirmed = await this.#runOnce(listener, signal);
      if (wasConfirmed) backOff.succeeded();
      await this.#availability.waitForRecovery(backOff.failed(), signal);
    }
  }

  /** @returns whether the server has confirmed the subscription */
  async #runOnce(listener: WakeUpListener, signal: AbortSignal): Promise<boolean> {
    // Only the probe asks a server that refuses the user.
    if (this.#availability.cause !== null) return false;
    const after = listener.end();
    try {
      const request = subscriptionRequest(after, this.#names.ownEvents());
      const call = await this.#connection.read(request, null, this.#startMs);
      await this.#untilEnded(call, new SubscriptionAnswers(after, listener), signal).finally(() => endCall(call));
    } catch {
      // The connection reports why it finds no leader.
    }
    const wasConfirmed = this.#isConfirmed;
    this.#isConfirmed = false;
    return wasConfirmed;
  }

  #untilEnded(call: ReadCall, answers: SubscriptionAnswers, signal: AbortSignal): Promise<void> {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const onAbort = () => end();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) end();
    const stopListening = this.#connection.onMove(end);
    const onAnswer = (answer: ReadResp) => {
      this.#isConfirmed = true;
      answers.add(answer);
    };
    call
      .on('error', () => end())
      .on('end', end)
      .on('close', end)
      .on('data', onAnswer);
    return promise.finally(() => {
      stopListening();
      signal.removeEventListener('abort', onAbort);
      call.off('data', onAnswer);
    });
  }
}

class SubscriptionAnswers {
  readonly #listener: WakeUpListener;
  /** The position of the last event of ours. */
  #last: number;

  /** @param after the position after which the subscription begins */
  constructor(after: number, listener: WakeUpListener) {
    this.#last = after;
    this.#listener = listener;
  }

  add(answer: ReadResp): void {
    const event = eventOf(answer);
    if (event !== undefined) {
      this.#last = positionOf(event);
      this.#listener.onStored(this.#last);
    }
    const checkpoint = Number(answer.getCheckpoint()?.getCommitPosition() ?? 0);
    // Version 24.6 reports the largest number when it reaches the end without an event that matches.
    if (checkpoint <= this.#last || !Number.isSafeInteger(checkpoint)) return;
    this.#listener.onForeign({ after: this.#last, before: checkpoint });
  }
}
