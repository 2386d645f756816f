import type { MessagePort } from 'node:worker_threads';
import * as E from 'fp-ts/lib/Either.js';
import { AppendPlace } from '#event-store/append-limits.ts';
import type { AppendFailure, AppendResult, EventToAppend } from '#event-store/event-store.ts';
import type { FairPlaces } from '#shared/async/fair-queue.ts';
import { type CommitFailed, type CommitSucceeded, conflictMark } from './messages.ts';

export interface AppendQueueOptions {
  /** The room for the accepted and unanswered appends. */
  readonly room: FairPlaces;
  /** After this long without an answer from the disk, waiting appends end with `unavailable`. */
  readonly answerWithinMs: number;
}

type Outcome = E.Either<AppendFailure, AppendResult>;

interface PendingAppend {
  readonly place: AppendPlace;
  readonly settle: (outcome: Outcome) => void;
}

interface Append {
  readonly stream: string;
  readonly expectedRevision: number;
  readonly events: ReadonlyArray<EventToAppend>;
  readonly lastEventId: string | undefined;
}

interface PendingBatch {
  readonly streams: string[];
  readonly expectedRevisions: number[];
  readonly lastEventIds: string[];
  readonly eventCounts: number[];
  readonly texts: string[];
}

/**
 * A message with this number of appends is sent before the turn ends, so that the writer starts while the other commands
 * of a long turn are still being decided.
 */
const maxAppendsOfMessage = 8;

/**
 * The appends on their way to the writer thread and back. Appends of one turn of the event loop share one message.
 * Answers arrive in the same order.
 */
export class AppendQueue {
  readonly #port: MessagePort;
  readonly #options: AppendQueueOptions;
  readonly #pending: PendingAppend[] = [];
  #gathered: PendingBatch = emptyGathered();
  #flushing: NodeJS.Immediate | null = null;
  #watchdog: NodeJS.Timeout | null = null;
  /** Why no more appends are accepted; null while they are. */
  #stopped: string | null = null;

  /** @param port to the writer thread; its owner closes it */
  constructor(port: MessagePort, options: AppendQueueOptions) {
    this.#port = port;
    this.#options = options;
  }

  /** @param bytes what the append stores */
  add(append: Append, bytes: number): Promise<Outcome> {
    if (this.#stopped !== null) return Promise.resolve(unavailable(this.#stopped));
    const { room } = this.#options;
    const place = AppendPlace.take(room, bytes);
    if (place === null) return Promise.resolve(unavailable('Too many writes are waiting for the event store.'));
    this.#gather(append);
    return new Promise((settle) => this.#pending.push({ place, settle }));
  }

  /** Settles the oldest pending appends. */
  settle(answer: CommitSucceeded | CommitFailed): void {
    if (answer.kind === 'failed') {
      for (const append of this.#removeOldest(answer.appends)) append.settle(unavailable(answer.detail));
    } else {
      const { outcomes } = answer;
      for (const [index, append] of this.#removeOldest(outcomes.length / 2).entries())
        append.settle(outcomeOf(outcomes[2 * index] ?? 0, outcomes[2 * index + 1] ?? conflictMark));
    }
    this.#watch();
  }

  /** Sends the accepted appends and refuses others. */
  stop(reason: string): void {
    this.#stopped ??= reason;
    this.#flush();
  }

  /** No more answers will arrive. Refuses waiting and further appends. */
  fail(reason: string): void {
    this.#stopped ??= reason;
    for (const append of this.#removeOldest(this.#pending.length)) append.settle(unavailable(reason));
    if (this.#flushing !== null) clearImmediate(this.#flushing);
    this.#watch();
  }

  #gather({ stream, expectedRevision, events, lastEventId = '' }: Append): void {
    const gathered = this.#gathered;
    gathered.streams.push(stream);
    gathered.expectedRevisions.push(expectedRevision);
    gathered.lastEventIds.push(lastEventId);
    gathered.eventCounts.push(events.length);
    for (const event of events) gathered.texts.push(event.id, event.type, event.data, event.metadata);
    this.#flushing ??= setImmediate(() => this.#flush());
    if (gathered.streams.length >= maxAppendsOfMessage) this.#flush();
  }

  #flush(): void {
    if (this.#flushing === null) return;
    clearImmediate(this.#flushing);
    this.#flushing = null;
    this.#port.postMessage({ kind: 'append', ...this.#gathered });
    this.#gathered = emptyGathered();
    if (this.#watchdog === null) this.#watch();
  }

  #removeOldest(count: number): ReadonlyArray<PendingAppend> {
    const taken = this.#pending.splice(0, count);
    for (const { place } of taken) place.leave();
    return taken;
  }

  /** Watches for the next answer, if one is expected. */
  #watch(): void {
    if (this.#pending.length === 0) {
      if (this.#watchdog !== null) clearTimeout(this.#watchdog);
      this.#watchdog = null;
    } else if (this.#watchdog === null) {
      this.#watchdog = setTimeout(() => this.#giveUpWaiting(), this.#options.answerWithinMs);
    } else {
      this.#watchdog.refresh();
    }
  }

  /**
   * Gives up waiting. The appends stay in the queue, so that it stays bounded and matches the answers; a late answer is
   * ignored.
   */
  #giveUpWaiting(): void {
    this.#watchdog = null;
    for (const { place, settle } of this.#pending) {
      place.keep();
      settle(unavailable('The event store does not answer.'));
    }
  }
}

function outcomeOf(revision: number, position: number): Outcome {
  return position === conflictMark
    ? E.left({ kind: 'conflict', actualRevision: revision })
    : E.right({ revision, position });
}

function unavailable(detail: string): Outcome {
  return E.left({ kind: 'unavailable', detail, retryAfterSeconds: 1 });
}

function emptyGathered(): PendingBatch {
  return { streams: [], expectedRevisions: [], lastEventIds: [], eventCounts: [], texts: [] };
}
