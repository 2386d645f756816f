import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type Connection, endCall, type ReadCall } from '#event-store/eventstoredb/connection/connection.ts';
import { eventOf, positionOf } from '#event-store/eventstoredb/wire/event-message.ts';
import { subscriptionRequest } from '#event-store/eventstoredb/wire/requests.ts';
import type { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { BackOff } from '#shared/async/back-off.ts';
import type { Availability } from '#shared/availability/availability.ts';
import type { WakeUpSource } from './wake-up-source.ts';

/** The pause before an ended subscription is opened again. Meanwhile the end of the log is polled. */
const reopenLimits = { firstMs: 100, maxMs: 5_000 };

/**
 * Wakes by a subscription from the log's end. It uses only the positions of events, so nothing is lost if the server
 * drops the subscription as too slow. Version 23.10 does that whenever more than 32 events are on their way.
 */
export class WakeUpSubscription implements WakeUpSource {
  readonly askEveryMs = 200;
  readonly #connection: Connection;
  readonly #availability: Availability;
  readonly #names: StreamNames;
  readonly #startMs: number;
  #stop: () => void = () => {};

  /** @param startMs the time until the call is sent */
  constructor(connection: Connection, availability: Availability, names: StreamNames, startMs: number) {
    this.#connection = connection;
    this.#availability = availability;
    this.#names = names;
    this.#startMs = startMs;
  }

  start(onStored: (position: number) => void): () => void {
    const stopped = new AbortController();
    this.#stop = () => stopped.abort();
    void this.#keepOpen(onStored, stopped.signal);
    return this.#stop;
  }

  close(): void {
    this.#stop();
  }

  async #keepOpen(onStored: (position: number) => void, signal: AbortSignal): Promise<void> {
    const backOff = new BackOff(reopenLimits);
    while (!signal.aborted) {
      const wasConfirmed = await this.#runOnce(onStored, signal);
      if (wasConfirmed) backOff.succeeded();
      await this.#availability.waitForRecovery(backOff.failed(), signal);
    }
  }

  /** @returns whether the server has confirmed the subscription */
  async #runOnce(onStored: (position: number) => void, signal: AbortSignal): Promise<boolean> {
    try {
      const request = subscriptionRequest(null, this.#names.ownEvents());
      const call = await this.#connection.read(request, null, this.#startMs);
      return await untilEnded(call, onStored, signal).finally(() => endCall(call));
    } catch (error) {
      this.#connection.failed(error, this.#startMs);
      return false;
    }
  }
}

function untilEnded(call: ReadCall, onStored: (position: number) => void, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let isConfirmed = false;
    const end = () => {
      signal.removeEventListener('abort', end);
      resolve(isConfirmed);
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    call.on('error', end).on('end', end).on('close', end);
    call.on('data', (answer: ReadResp) => {
      isConfirmed = true;
      const event = eventOf(answer);
      if (event !== undefined) onStored(positionOf(event));
    });
  });
}
