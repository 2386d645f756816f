import type { EventControlEvents } from '#domain/operator/event-control.ts';
import type { ProcessEvents } from '#domain/operator/process-control.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { ensureReadable } from '#event-store/recorded-event.ts';
import { retrying } from '#shared/async/retrying.ts';
import { abortable } from '#shared/async/timed-waits.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** An operator's decision on an event at which a process has stopped. */
export type OperatorDecision = 'retry' | 'skip';

const retryRequested = 'ProcessRetried' satisfies keyof ProcessEvents;
const skippedByAll = 'EventSkipped' satisfies keyof EventControlEvents;
const requestTypes: ReadonlyArray<keyof ProcessEvents | keyof EventControlEvents> = [
  retryRequested,
  'ProcessEventSkipped',
  skippedByAll,
];

export interface ProcessRequestsOptions {
  readonly tail: Pick<LogTail, 'follow'>;
  readonly store: Pick<EventStore, 'lastPosition'>;
  /** The position before which no process stops at an event. */
  readonly after: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * The requests of operators to processes, which are events of the log. One follower reads them for all processes, from
 * the first time that a process needs one. It reads all requests after the stopped events, so an event that was skipped
 * once is skipped after a restart too.
 */
export class ProcessRequests {
  readonly #options: ProcessRequestsOptions;
  /** The stopped processes by name and event id. */
  readonly #stopped = new Map<string, Map<string, (verdict: OperatorDecision) => void>>();
  readonly #skipped = new Map<string, Set<string>>();
  readonly #skippedByAll = new Set<string>();
  #position: number;
  #following: Following | null = null;

  constructor(options: ProcessRequestsOptions) {
    this.#options = options;
    this.#position = options.after;
  }

  /**
   * True if an operator has skipped the event, as far as the requests have been read. The first call begins to read
   * them.
   */
  isSkipped(name: string, eventId: string): boolean {
    this.#follow();
    return this.#skippedByAll.has(eventId) || (this.#skipped.get(name)?.has(eventId) ?? false);
  }

  /** Waits until every request that is stored now has been read. @throws the signal's reason after it has aborted */
  async readAll(): Promise<void> {
    const { store, log, signal } = this.#options;
    const following = this.#follow();
    const end = await retrying('The end of the log', () => store.lastPosition(), { log, signal });
    await following.passed(end, signal);
    signal.throwIfAborted();
  }

  /**
   * Waits for the decision on an event at which a process has stopped.
   * @throws the signal's reason after it has aborted
   */
  async decisionOn(name: string, eventId: string): Promise<OperatorDecision> {
    const { promise, resolve } = Promise.withResolvers<OperatorDecision>();
    const stopped = this.#stopped.get(name) ?? new Map<string, (verdict: OperatorDecision) => void>();
    this.#stopped.set(name, stopped.set(eventId, resolve));
    try {
      return await abortable(this.#options.signal, () => promise);
    } finally {
      stopped.delete(eventId);
    }
  }

  /** Waits for the end. Call it after the signal has aborted. */
  async ended(): Promise<void> {
    await this.#following?.ended;
  }

  #follow(): Following {
    const { tail, signal } = this.#options;
    this.#following ??= tail.follow({
      name: 'the requests of operators to processes',
      after: () => this.#position,
      types: requestTypes,
      handle: ({ events, position }) => {
        for (const event of events) this.#apply(event);
        this.#position = position;
      },
      signal,
    });
    return this.#following;
  }

  #apply(event: RecordedEvent): void {
    try {
      ensureReadable(event);
    } catch (error) {
      this.#options.log.error({ error: errorText(error) }, "An operator's request to a process cannot be read");
      return;
    }
    const { type, data } = event;
    if (type === skippedByAll) {
      this.#skipEverywhere(String(data.eventId));
      return;
    }
    const stopped = this.#stopped.get(String(data.process));
    if (type === retryRequested) {
      for (const decide of stopped?.values() ?? []) decide('retry');
      return;
    }
    this.#skip(String(data.process), String(data.eventId));
    stopped?.get(String(data.eventId))?.('skip');
  }

  #skipEverywhere(eventId: string): void {
    this.#skippedByAll.add(eventId);
    for (const stopped of this.#stopped.values()) stopped.get(eventId)?.('skip');
  }

  #skip(name: string, eventId: string): void {
    const skipped = this.#skipped.get(name) ?? new Set();
    this.#skipped.set(name, skipped.add(eventId));
  }
}
