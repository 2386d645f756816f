import type { ProcessEvents } from '#domain/process/events.ts';
import { type EventFailure, eventFailure } from '#domain/shared/event-failure.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { ensureReadable } from '#event-store/lazy-event.ts';
import { abortable } from '#shared/async/abortable.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';

/** What an operator wants done with an event at which a process has stopped. */
export type Verdict = 'retry' | 'skip';

export interface StoppedEventsOptions {
  /** The process's name. */
  readonly process: string;
  readonly store: Pick<EventStore, 'subscribe'>;
  /** Operators' requests are read after this position. No event at which the process may stop comes before it. */
  readonly after: number;
  /** Keeps the first event at which the process has stopped, or null once there is none, where every node sees it. */
  readonly keep: (failure: EventFailure | null) => Promise<void>;
  readonly log: { error(details: object, message: string): void };
  /** Ends every wait. */
  readonly signal: AbortSignal;
}

interface StoppedEvent {
  readonly failure: EventFailure;
  readonly decide: (verdict: Verdict) => void;
}

type OperatorEvent = {
  [Type in keyof ProcessEvents]: RecordedEvent<Type, ProcessEvents[Type]>;
}[keyof ProcessEvents];

const operatorEventTypes: ReadonlyArray<string> = ['ProcessRetried', 'ProcessEventSkipped'] satisfies ReadonlyArray<
  keyof ProcessEvents
>;

const listenLimits = { firstMs: 50, longestMs: 5_000 };

/**
 * The events at which a process has stopped, until operators say what is to become of them. Their requests are read from
 * the log: all that came after the event, so that what was skipped once is skipped after a restart, too.
 */
export class StoppedEvents {
  readonly #options: StoppedEventsOptions;
  readonly #stopped = new Map<string, StoppedEvent>();
  readonly #skipped = new Set<string>();
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #caughtUp = Promise.withResolvers<void>();
  #following: Promise<void> | null = null;
  #kept: Promise<void> = Promise.resolve();

  constructor(options: StoppedEventsOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#closing.signal]);
  }

  /**
   * Stops at an event until an operator has decided.
   * @param error why the process cannot go past it
   * @throws what `keep` throws; the signal's reason once that has aborted
   */
  async verdict(event: RecordedEvent, error: unknown): Promise<Verdict> {
    await abortable(this.#signal, () => this.#listen());
    if (this.#skipped.has(event.id)) return 'skip';
    return abortable(this.#signal, () => this.#stopAt(event, error));
  }

  /** Ends every wait. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  async #stopAt(event: RecordedEvent, error: unknown): Promise<Verdict> {
    const { process, log } = this.#options;
    const { promise: decided, resolve: decide } = Promise.withResolvers<Verdict>();
    const failure = eventFailure(event, error);
    this.#stopped.set(event.id, { failure, decide });
    try {
      await this.#keepFirst();
      log.error(
        { process, ...failure },
        'A process has stopped at an event that it cannot read: retry it, or skip the event',
      );
      return await decided;
    } finally {
      this.#stopped.delete(event.id);
      await this.#keepFirst();
    }
  }

  /** One write at a time, each of what has stopped by then. */
  #keepFirst(): Promise<void> {
    const keep = () => this.#options.keep(this.#first());
    this.#kept = this.#kept.then(keep, keep);
    return this.#kept;
  }

  #first(): EventFailure | null {
    const failures = [...this.#stopped.values()].map(({ failure }) => failure);
    return failures.reduce<EventFailure | null>(
      (first, failure) => (first === null || failure.position < first.position ? failure : first),
      null,
    );
  }

  /** Reads operators' requests from now on. @returns once all that were there before are read */
  #listen(): Promise<void> {
    this.#following ??= this.#follow();
    return this.#caughtUp.promise;
  }

  async #follow(): Promise<void> {
    const { process, store, after, log } = this.#options;
    const signal = this.#signal;
    const backOff = new BackOff(listenLimits);
    let position = after;
    while (!signal.aborted) {
      try {
        for await (const batch of store.subscribe({ after: position, types: operatorEventTypes, signal })) {
          for (const event of batch.events) this.#obey(event as OperatorEvent);
          position = batch.position;
          backOff.succeeded();
          if (batch.caughtUp) this.#caughtUp.resolve();
        }
      } catch (error) {
        if (!signal.aborted) log.error({ err: error, process }, "Operators' requests to a process cannot be read");
      }
      await delay(backOff.failed(), signal);
    }
  }

  #obey(event: OperatorEvent): void {
    const { process, log } = this.#options;
    try {
      ensureReadable(event as RecordedEvent);
    } catch (error) {
      log.error({ error: String(error) }, "An operator's request to a process cannot be read");
      return;
    }
    if (event.data.process !== process) return;
    if (event.type === 'ProcessRetried') {
      for (const { decide } of this.#stopped.values()) decide('retry');
      return;
    }
    this.#skipped.add(event.data.eventId);
    this.#stopped.get(event.data.eventId)?.decide('skip');
  }
}
