import type { MessagePort } from 'node:worker_threads';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { ChangeListener } from '#event-store/change-notifications.ts';
import { type Connection, endCall, type ReadCall } from '#event-store/eventstoredb/connection/connection.ts';
import { eventOf, positionOf, subscriptionRequest } from '#event-store/eventstoredb/wire/requests.ts';
import type { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import type { LogChanges } from '#event-store/log-pages.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import type { Availability } from '#shared/availability/availability.ts';
import type { PageMessage, SharedPage } from './page-exchange.ts';

/** How long the end is watched after the last wait, because most followers wait again soon. */
const lingerMs = 1_000;

export interface LogEndOptions {
  /** Reads the end of the log, including events of other applications. @throws UnavailableError */
  readonly ask: () => Promise<number>;
  /** Reports new events during waits. It may miss some, because the end is also polled. */
  readonly wakeUps: WakeUpSource;
  /** Called with a page that another thread has read, before its waiting followers. */
  readonly onPage: (page: SharedPage) => void;
  /** Called with a stream that another thread has removed. */
  readonly onRemoved: (stream: string) => void;
}

/**
 * The known end of the log, and the waits for it to grow. Its sources are this node's own appends, wake-ups, and
 * polling during waits.
 */
export class LogEnd implements LogChanges {
  readonly #options: LogEndOptions;
  readonly #listener = new ChangeListener();
  readonly #closed = new AbortController();
  #known = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #waitedAt = Number.NEGATIVE_INFINITY;
  #watching: Promise<void> | null = null;

  constructor(options: LogEndOptions) {
    this.#options = options;
    options.wakeUps.onRemoved?.(options.onRemoved);
  }

  /** The last position that is known to be stored. */
  get known(): number {
    return this.#known;
  }

  /** Reports that the log has reached a position. */
  raise(position: number): void {
    if (position <= this.#known) return;
    this.#known = position;
    this.#listener.notify(position);
  }

  /** Reports the end of the log from a read. */
  asked(position: number): void {
    this.#askedAt = performance.now();
    this.raise(position);
  }

  onStreamRemoved(listener: (stream: string) => void): () => void {
    return this.#listener.onStreamRemoved(listener);
  }

  /** Reports the removal of a stream. */
  removed(stream: string): void {
    this.#listener.notifyRemoval(stream);
  }

  async waitPast(position: number, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    this.#watch();
    try {
      await this.#listener.waitPast(position, AbortSignal.any([signal, this.#closed.signal]));
    } finally {
      this.#waiting -= 1;
      this.#waitedAt = performance.now();
    }
  }

  /** Ends every wait. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#listener.close();
    await this.#watching;
  }

  get #isWanted(): boolean {
    if (this.#closed.signal.aborted) return false;
    return this.#waiting > 0 || performance.now() - this.#waitedAt < lingerMs;
  }

  #watch(): void {
    if (this.#closed.signal.aborted) return;
    this.#watching ??= this.#watchWhileWanted().finally(() => {
      this.#watching = null;
    });
  }

  async #watchWhileWanted(): Promise<void> {
    const { wakeUps, ask, onPage } = this.#options;
    const stopWakeUps = wakeUps.start((position, page) => {
      if (page !== undefined) onPage(page);
      this.raise(position);
    });
    try {
      while (this.#isWanted) {
        const left = this.#askedAt + wakeUps.pollMs - performance.now();
        if (left > 0) {
          await delay(left, this.#closed.signal);
          continue;
        }
        this.#askedAt = performance.now();
        // Readers see the failure themselves; the next read reports the end.
        const position = await ask().catch(() => null);
        if (position !== null) this.raise(position);
      }
    } finally {
      stopWakeUps();
    }
  }
}

/** Reports stored events soon after they are stored. It may miss some, and may report one twice. */
export interface WakeUpSource {
  /** How often the end of the log is also polled. */
  readonly pollMs: number;
  /**
   * Starts to report.
   * @param onStored is called with the position of a stored event, and with its page if that was read already
   * @returns a function that stops the reports
   */
  readonly start: (onStored: (position: number, page?: SharedPage) => void) => () => void;
  /** Calls a listener, from now on, for each stream whose removal another thread reports. */
  readonly onRemoved?: (listener: (stream: string) => void) => void;
  /** Closes the source. */
  readonly close: () => void;
}

/** The thread at the other end of the port polls more often, and sends the pages that it reads. */
const pollMs = 1_000;

/**
 * Creates wake-ups from a `LogReader` in another thread, with the pages that it reads.
 * @param port of its `changePort`; closed with the source
 */
export function wakeUpsByPort(port: MessagePort): WakeUpSource {
  let listener: ((position: number, page: SharedPage) => void) | null = null;
  let removalListener: (stream: string) => void = () => {};
  port.on('message', (message: PageMessage) => {
    if (message.kind === 'removed') {
      removalListener(message.stream);
      port.postMessage({ kind: 'removal-acknowledged' } satisfies PageMessage);
    }
    if (message.kind !== 'page') return;
    port.postMessage({ kind: 'acknowledged' } satisfies PageMessage);
    listener?.(message.page.position, message.page);
  });
  return {
    pollMs,
    start(onStored) {
      listener = onStored;
      return () => {
        listener = null;
      };
    },
    onRemoved(onRemoved) {
      removalListener = onRemoved;
    },
    close: () => port.close(),
  };
}

/** The pause before an ended subscription is opened again. Meanwhile the end of the log is polled. */
const reopenLimits = { firstMs: 100, maxMs: 5_000 };

/**
 * Wakes by a subscription from the log's end. It uses only the positions of events, so nothing is lost if the server
 * drops the subscription as too slow. Version 23.10 does that whenever more than 32 events are on their way.
 */
export class WakeUpSubscription implements WakeUpSource {
  readonly pollMs = 200;
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
    // Only the probe asks a server that refuses the user.
    if (this.#availability.cause !== null) return false;
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
