import type { ProcessEvents } from '#domain/process/events.ts';
import { type EventFailure, eventFailure } from '#domain/shared/event-failure.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { ensureReadable } from '#event-store/lazy-event.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { abortable } from '#shared/async/abortable.ts';

/** An operator's decision on an event at which a process has stopped. */
export type Verdict = 'retry' | 'skip';

export interface StoppedEventsOptions {
  /** The process's name. */
  readonly process: string;
  readonly tail: Pick<LogTail, 'follow'>;
  /** The position after which operators' requests are read. The process stops at no event before it. */
  readonly after: number;
  /**
   * Stores the first event at which the process has stopped, so that every node sees it; null when there is none any
   * more.
   */
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

/**
 * The events at which a process has stopped and waits for operators. Their requests are events of the log. All
 * requests after the stopped event are read, so an event that was skipped once is skipped after a restart too.
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
   * @param error the reason why the process cannot pass the event
   * @throws what `keep` throws; the signal's reason after it has aborted
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

  /** Runs one write at a time, always of the newest state. */
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

  /** Reads operators' requests from now on. @returns when it has read all earlier requests */
  #listen(): Promise<void> {
    this.#following ??= this.#follow();
    return this.#caughtUp.promise;
  }

  #follow(): Promise<void> {
    const { process, tail, after } = this.#options;
    const following = tail.follow({
      name: `The follower of operators' requests to the process ${process}`,
      types: operatorEventTypes,
      after,
      handle: (batch) => {
        for (const event of batch.events) this.#applyRequest(event as OperatorEvent);
        if (batch.caughtUp) this.#caughtUp.resolve();
      },
      signal: this.#signal,
    });
    return following.ended;
  }

  #applyRequest(event: OperatorEvent): void {
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
