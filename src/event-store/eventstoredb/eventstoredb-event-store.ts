import * as E from 'fp-ts/lib/Either.js';
import * as TE from 'fp-ts/lib/TaskEither.js';
import { sizedAppend } from '#event-store/append-size.ts';
import type { CommitStatistics } from '#event-store/commit-statistics.ts';
import {
  type Appended,
  type AppendFailure,
  defaultMaxAppendBytes,
  type EventBatch,
  type EventStore,
  type EventToAppend,
  maxPartCharacters,
  type StreamPart,
  type SubscribeOptions,
} from '#event-store/event-store.ts';
import type { StoredEvent } from '#event-store/hash-chain.ts';
import { recordedEvent } from '#event-store/lazy-event.ts';
import type { RawEvent, RawLog } from '#event-store/transfer/raw-log.ts';
import type { Upcast } from '#event-store/upcasting.ts';
import { TurnBudget } from '#shared/async/turn-budget.ts';
import { Appends } from './appends.ts';
import { Connection } from './connection.ts';
import { bytesOf, eventOf, positionOf, storedEvent } from './event-message.ts';
import { Reads } from './reads.ts';
import { lastEventRequest, logRequest, streamRequest } from './requests.ts';
import type { StoreLog } from './store-log.ts';
import { Subscriptions } from './subscriptions.ts';

export interface EventStoreDbOptions {
  /** `esdb://…`: see `connectionUrl`. */
  readonly url: string;
  /** Brings data to its newest shape when read; without it data comes as stored. */
  readonly upcast?: Upcast;
  /** Stored bytes of one append at most (default 900 KiB; the server's own limit is 1 MiB of data). */
  readonly maxAppendBytes?: number;
  /** What an append is answered within, settled or not (default 5,000 ms). */
  readonly answerWithinMs?: number;
  /** What one try of an append, and the start of a subscription, waits for the server (default 3,000 ms). */
  readonly attemptMs?: number;
  /** How long an append whose answer was lost is tried again (default 10 minutes). */
  readonly settleWithinMs?: number;
  /** What a read takes at most, with all its tries (default 5,000 ms). */
  readonly readWithinMs?: number;
  /** Appends that are not settled, at most (default 4,096); what comes beyond is `unavailable`. */
  readonly maxPendingAppends?: number;
  /** Their bytes together, at most (default 64 MiB). */
  readonly maxPendingBytes?: number;
  /** Told of every append that was stored. */
  readonly onCommit?: (statistics: CommitStatistics) => void;
  readonly log: StoreLog;
}

/** The port on EventStoreDB, and reads of what is stored as it is. */
export interface EventStoreDbEventStore extends EventStore, RawLog {
  /** A stream's events as stored, not upcast: what `verifyChain` takes. @throws UnavailableError */
  readRaw(stream: string, fromRevision: number, limit?: number): Promise<ReadonlyArray<StoredEvent>>;
}

/** Bytes of one answer to `readRawLog`, give or take an event. */
const rawLogBytes = 4 * 1024 * 1024;

/** Short of the service's ten seconds to stop. */
const closeLimitMs = 6_000;

/**
 * Opens the event store on EventStoreDB (KurrentDB) 23.10. It connects at the first call, and again whenever the
 * connection is lost.
 * @throws StartupError when the URL is wrong
 */
export function openEventStoreDbEventStore(options: EventStoreDbOptions): EventStoreDbEventStore {
  return new ConnectedEventStore(options);
}

const asStored: Upcast = (_type, _schemaVersion, data) => data;

class ConnectedEventStore implements EventStoreDbEventStore {
  readonly #connection: Connection;
  readonly #reads: Reads;
  readonly #appends: Appends;
  readonly #subscriptions: Subscriptions;
  readonly #upcast: Upcast;
  readonly #maxAppendBytes: number;
  readonly #readTurns = new TurnBudget(maxPartCharacters);
  #closing: Promise<void> | null = null;

  constructor(options: EventStoreDbOptions) {
    const attemptMs = options.attemptMs ?? 3_000;
    this.#upcast = options.upcast ?? asStored;
    this.#maxAppendBytes = options.maxAppendBytes ?? defaultMaxAppendBytes;
    this.#connection = new Connection(options.url);
    this.#reads = new Reads(this.#connection, options.readWithinMs ?? 5_000);
    this.#subscriptions = new Subscriptions(this.#connection, this.#upcast, attemptMs, options.log);
    const limits = {
      answerWithinMs: options.answerWithinMs ?? 5_000,
      attemptMs,
      settleWithinMs: options.settleWithinMs ?? 600_000,
      maxPending: options.maxPendingAppends ?? 4_096,
      maxPendingBytes: options.maxPendingBytes ?? 64 * 1024 * 1024,
    };
    this.#appends = new Appends(this.#connection, this.#reads, limits, options.log, options.onCommit ?? (() => {}));
  }

  append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
  ): TE.TaskEither<AppendFailure, Appended> {
    const size = sizedAppend(expectedRevision, events, this.#maxAppendBytes);
    return E.isLeft(size)
      ? TE.left(size.left)
      : () => this.#appends.append({ stream, expectedRevision, events }, size.right);
  }

  async read(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER): Promise<StreamPart> {
    const messages = await this.#streamMessages(stream, fromRevision, limit, maxPartCharacters);
    const characters = messages.reduce((sum, message) => sum + bytesOf(message), 0);
    const events = await this.#readTurns.run(
      () => messages.map((message) => recordedEvent(storedEvent(message), this.#upcast)),
      () => characters,
    );
    return { events, characters, isEnd: events.length < limit && characters <= maxPartCharacters };
  }

  subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    return this.#subscriptions.subscribe(options);
  }

  async lastPosition(): Promise<number> {
    const [answer] = await this.#reads.answers(lastEventRequest());
    const event = answer === undefined ? undefined : eventOf(answer);
    return event === undefined ? 0 : positionOf(event);
  }

  async readRaw(
    stream: string,
    fromRevision: number,
    limit = Number.MAX_SAFE_INTEGER,
  ): Promise<ReadonlyArray<StoredEvent>> {
    const messages = await this.#streamMessages(stream, fromRevision, limit);
    return messages.map(storedEvent);
  }

  async readRawLog(after: number, limit: number): Promise<ReadonlyArray<RawEvent>> {
    // The event at the position itself comes too.
    const answers = await this.#reads.answers(logRequest(after, limit + 1), rawLogBytes);
    const events = answers.flatMap((answer) => eventOf(answer) ?? []).map(storedEvent);
    return events.filter(({ position }) => position > after).slice(0, limit);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#subscriptions.close();
    await this.#appends.close(closeLimitMs);
    this.#reads.close();
    await this.#connection.close();
  }

  async #streamMessages(stream: string, fromRevision: number, limit: number, maxBytes?: number) {
    if (limit <= 0) return [];
    const answers = await this.#reads.answers(streamRequest(stream, fromRevision, limit), maxBytes);
    return answers.flatMap((answer) => eventOf(answer) ?? []);
  }
}
