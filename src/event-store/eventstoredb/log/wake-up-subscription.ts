import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type Connection, endCall, type ReadCall } from '#event-store/eventstoredb/connection/connection.ts';
import { eventOf, positionOf } from '#event-store/eventstoredb/wire/event-message.ts';
import { subscriptionRequest } from '#event-store/eventstoredb/wire/requests.ts';
import type { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { BackOff } from '#shared/async/back-off.ts';
import type { Availability } from '#shared/availability/availability.ts';
import type { WakeUpSource } from './wake-up-source.ts';

/** A subscription that ended is opened again after so long: until then the end of the log is asked for. */
const reopenLimits = { firstMs: 100, longestMs: 5_000 };

/**
 * Wakes by a subscription of the server from the log's end. Of what it carries only positions are used, so that nothing
 * is lost where the server drops it as too slow, which 23.10 does whenever more than 32 events are on their way.
 */
export class WakeUpSubscription implements WakeUpSource {
  readonly askEveryMs = 200;
  readonly #connection: Connection;
  readonly #availability: Availability;
  readonly #names: StreamNames;
  readonly #startMs: number;
  #stop: () => void = () => {};

  /** @param startMs until the call is on its way */
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
      await this.#availability.waitUntilBack(backOff.failed(), signal);
    }
  }

  /** @returns whether the server had confirmed it */
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
