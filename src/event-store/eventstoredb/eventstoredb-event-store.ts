import type { MessagePort } from 'node:worker_threads';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import * as E from 'fp-ts/lib/Either.js';
import { sizedAppend } from '#event-store/append-limits.ts';
import type { ChangeListener } from '#event-store/change-notifications.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import {
  type AppendFailure,
  type AppendResult,
  type CommitStatistics,
  defaultMaxAppendBytes,
  type EventStore,
  type EventToAppend,
  maxPartCharacters,
  type StreamPart,
} from '#event-store/event-store.ts';
import { isRefusal, isServerAnswer } from '#event-store/eventstoredb/connection/call-failure.ts';
import { bytesOf, eventOf, positionOf, storedEvent } from '#event-store/eventstoredb/wire/requests.ts';
import { FedPages } from '#event-store/log-feed.ts';
import type { LogChanges, LogPage, LogPageRequest, LogPages } from '#event-store/log-pages.ts';
import { asStored, recordedEvent, type Upcast } from '#event-store/recorded-event.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawEvent, RawLog } from '#event-store/transfer/raw-log.ts';
import { Admission } from '#exchange/admission.ts';
import { runInTurn } from '#exchange/turns.ts';
import { workForAll } from '#shared/async/fair-queue.ts';
import { delay, withTimeoutError } from '#shared/async/timed-waits.ts';
import { Availability } from '#shared/availability/availability.ts';
import { clock } from '#shared/clock.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import { Appends } from './appends.ts';
import { callFailure, isSilence, TimedOutError } from './connection/call-failure.ts';
import { LeaderConnection } from './connection/connection.ts';
import { explainFailure } from './connection/explain-failure.ts';
import { InvalidPositionError, Reads } from './connection/reads.ts';
import { serverSettings } from './connection/server-settings.ts';
import { LogReader } from './log/log-reader.ts';
import { LogWatch } from './log/log-watch.ts';
import { WakeUpSubscription } from './log/wake-ups.ts';
import { Removals } from './removals.ts';
import { StreamReader } from './stream-reader.ts';
import { UnreadableStreams } from './unreadable-streams.ts';
import { eventAtRequest, logRequest, probeRequest } from './wire/requests.ts';
import { StreamNames, type StreamNaming } from './wire/stream-names.ts';
import { WriteAccess } from './write-access.ts';

export interface EventStoreDbOptions extends StreamNaming {
  /** The address `esdb://…`: see `connectionUrl`. */
  readonly url: string;
  /** Without it, data is returned as stored. */
  readonly upcast?: Upcast;
  /** Default 900 KiB; the server's own limit is 1 MiB of data. */
  readonly maxAppendBytes?: number;
  /**
   * How long the caller of an append waits, even if the outcome is unknown, and how long an available server may be
   * silent (default 5,000 ms).
   */
  readonly answerWithinMs?: number;
  /**
   * Time limit of one attempt of a call, and of the start of a subscription (default: `answerWithinMs`, because an
   * append that is repeated while the server still works on it waits for seconds).
   */
  readonly attemptMs?: number;
  /** Time limit of an append with a lost answer (default 10 minutes). */
  readonly settleWithinMs?: number;
  /** Time limit of a read with all its attempts (default 5,000 ms). */
  readonly readWithinMs?: number;
  /** Limits pending appends and long reads; further ones are `unavailable`. Default: one of its own. */
  readonly admission?: Pick<Admission, 'rooms' | 'slot'>;
  /** True to retry while the server is known to be unavailable (default false: calls fail immediately). */
  readonly retriesWhenUnavailable?: boolean;
  /**
   * The port of `feedTail` in another thread, whose pages and announcements serve this one too. Closed with the store.
   */
  readonly wake?: MessagePort;
  readonly onCommit?: (statistics: CommitStatistics) => void;
  readonly log: DebugLogger;
}

/** Maximum size of one answer to `readRawLog`; the last event may exceed it. */
const rawLogBytes = 4 * 1024 * 1024;

/** Time limit of a search for one event among any number of events of other applications. */
const searchMs = 600_000;
const searchAgainMs = 200;

/** How long the other threads that read the log may take to drop a removed stream. */
const removalAnswerMs = 30_000;

/** Time limit of a close, shorter than the ten seconds in which the service must stop. */
const closeLimitMs = 6_000;

/**
 * Opens an event store on EventStoreDB or KurrentDB, from 23.10 on. It connects at the first call, and again whenever
 * the connection is lost.
 * @throws StartupError when the URL is wrong
 */
export function openEventStoreDbEventStore(options: EventStoreDbOptions): EventStoreDbEventStore {
  return new EventStoreDbEventStore(options);
}

/** An event store, with reads of events as stored. */
export class EventStoreDbEventStore implements EventStore, LogPages, StreamRemoval, Pick<RawLog, 'readRawLog'> {
  readonly #connection: LeaderConnection;
  readonly #reads: Reads;
  readonly #streams: StreamReader;
  readonly #availability: Availability;
  readonly #appends: Appends;
  readonly #writeAccess: WriteAccess;
  readonly #log: LogReader;
  /** Pages from another thread; null if this one is not fed. */
  readonly #fed: FedPages | null;
  readonly #changes: ChangeListener;
  readonly #removals: Removals;
  readonly #names: StreamNames;
  readonly #readWithinMs: number;
  readonly #upcast: Upcast;
  readonly #maxAppendBytes: number;
  #closing: Promise<void> | null = null;

  constructor(options: EventStoreDbOptions) {
    const answerWithinMs = options.answerWithinMs ?? 5_000;
    const attemptMs = options.attemptMs ?? answerWithinMs;
    this.#upcast = options.upcast ?? asStored;
    this.#maxAppendBytes = options.maxAppendBytes ?? defaultMaxAppendBytes;
    this.#names = new StreamNames(options);
    const names = this.#names;
    const { log, admission = new Admission(), retriesWhenUnavailable = false } = options;
    const settings = serverSettings(options.url);
    const cluster = { settings, question: probeRequest(names) };
    const explain = (failure: unknown) => explainFailure(cluster, failure);
    const connection = new LeaderConnection({
      ...cluster,
      onAnswer: () => availability.answered(),
      onFailure: () => availability.suspect(),
    });
    const availability = new Availability({
      server: 'EventStoreDB',
      probe: (timeoutMs) => connection.probe(timeoutMs),
      explain,
      isAnswer: (failure) => isServerAnswer(callFailure(failure)),
      isRefusal: (failure) => isRefusal(callFailure(failure)),
      isSilence: (failure) => isSilence(callFailure(failure)),
      silentAfterMs: answerWithinMs,
      timedOut: (waitedMs) => new TimedOutError(waitedMs),
      // A store in another thread of this process is on the same server, and writes the lines.
      ...(options.wake === undefined && { log }),
    });
    this.#readWithinMs = options.readWithinMs ?? 5_000;
    const reads = new Reads(connection, availability, {
      attemptMs,
      deadlineMs: this.#readWithinMs,
      retriesWhenUnavailable,
      explain,
    });
    const missingRight = `writing to ${names.description} needs \`$w\` in their access lists, or in \`$userStreamAcl\``;
    const explainRefusal = (refusal: unknown) => explainFailure(cluster, refusal, missingRight);
    const writeAccess = new WriteAccess({ connection, names, explain: explainRefusal, log });
    this.#fed = options.wake === undefined ? null : new FedPages(options.wake, this.#upcast);
    const changes: ChangeListener =
      this.#fed?.changes ??
      new LogWatch({
        askForEnd: () => reader.lastPosition(),
        askedAt: () => reader.askedAt,
        wakeUps: new WakeUpSubscription(connection, availability, names, attemptMs),
        onForeign: (stretch) => reader.passForeign(stretch),
      });
    const reader = new LogReader({ reads, names, upcast: this.#upcast, changes });
    connection.onMove(() => reader.doubt());
    const limits = {
      maxAppendBytes: this.#maxAppendBytes,
      answerWithinMs,
      attemptMs,
      settleWithinMs: options.settleWithinMs ?? 600_000,
      retriesWhenUnavailable,
    };
    const unreadable = new UnreadableStreams(log);
    const onStored = (position: number) => changes.notify(position);
    const onCommit = options.onCommit ?? (() => {});
    this.#appends = new Appends({
      connection,
      availability,
      reads,
      writeAccess,
      names,
      unreadable,
      limits,
      room: admission.rooms.append,
      log,
      onCommit,
      onStored,
    });
    this.#removals = new Removals({
      ...{ connection, availability, reads, names, attemptMs },
      deadlineMs: answerWithinMs,
    });
    this.#connection = connection;
    this.#availability = availability;
    this.#reads = reads;
    this.#streams = new StreamReader({ admission, reads, names, unreadable });
    this.#writeAccess = writeAccess;
    this.#log = reader;
    this.#changes = changes;
  }

  async append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
    lastEventId?: string,
  ): Promise<E.Either<AppendFailure, AppendResult>> {
    const size = sizedAppend(expectedRevision, events, this.#maxAppendBytes);
    return E.isLeft(size) ? size : this.#appends.append({ stream, expectedRevision, events }, size.right, lastEventId);
  }

  async read(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER): Promise<StreamPart> {
    const messages = await this.#streams.read(stream, fromRevision, limit, maxPartCharacters);
    const characters = messages.reduce((sum, message) => sum + bytesOf(message), 0);
    const events = await runInTurn(
      workForAll(),
      'log',
      () => messages.map((message) => recordedEvent(storedEvent(message, this.#names), this.#upcast)),
      () => characters,
    );
    return { events, characters, isEnd: events.length < limit && characters <= maxPartCharacters };
  }

  /** Tries an append without storing anything. @throws UnavailableError */
  ensureWritable(): Promise<void> {
    return this.#writeAccess.ensure();
  }

  /** The server has no filter for types next to that for streams, so the page has events of all types. */
  async readPage(request: LogPageRequest): Promise<LogPage> {
    if (request.isFresh === true) return this.#readFresh(request);
    return this.#fed?.find(request) ?? this.#log.readPage(request);
  }

  /**
   * Reads a page whose beginning is checked. A log without an event at the position ends before it, or the node that
   * answers is behind.
   */
  async #readFresh(request: LogPageRequest): Promise<LogPage> {
    try {
      return await this.#log.readFresh(request);
    } catch (error) {
      if (!(error instanceof InvalidPositionError)) throw error;
      const { after } = request;
      return { after, position: after, events: [], characters: 0, isEnd: true };
    }
  }

  get changes(): LogChanges {
    return this.#changes;
  }

  lastPosition(): Promise<number> {
    return this.#log.lastPosition();
  }

  async eventAt(position: number): Promise<string | null> {
    try {
      const [answer] = await this.#reads.answers(eventAtRequest(position));
      const event = answer === undefined ? undefined : eventOf(answer);
      if (event === undefined || positionOf(event) !== position) return null;
      return storedEvent(event, this.#names).id;
    } catch (error) {
      if (error instanceof InvalidPositionError) return null;
      throw error;
    }
  }

  /**
   * Finds a stream that would be ours without the prefix; null without one, or if ours cannot be distinguished.
   * @throws UnavailableError
   */
  async findUnprefixedStream(): Promise<string | null> {
    const filter = this.#names.unprefixedEvents();
    if (filter === null) return null;
    const [answer] = await this.#search(logRequest(0, 1, filter));
    const event = answer === undefined ? undefined : eventOf(answer);
    return event === undefined ? null : storedEvent(event, new StreamNames({ streamPrefix: '' })).stream;
  }

  streamNames(prefix: string): Promise<ReadonlyArray<string>> {
    return this.#removals.streamNames(prefix);
  }

  async removeStream(stream: string, lastRevision: number): Promise<boolean> {
    const isRemoved = await this.#removals.removeStream(stream, lastRevision);
    if (isRemoved) await withTimeoutError(removalAnswerMs, this.#changes.notifyRemoval(stream), noAnswer);
    return isRemoved;
  }

  /** Reads events as stored, not upcast: what `verifyChain` takes. @throws UnavailableError; UnreadableStreamError */
  async readRaw(
    stream: string,
    fromRevision: number,
    limit = Number.MAX_SAFE_INTEGER,
  ): Promise<ReadonlyArray<StoredEvent>> {
    const messages = await this.#streams.read(stream, fromRevision, limit);
    return messages.map((message) => storedEvent(message, this.#names));
  }

  async readRawLog(after: number, limit: number): Promise<ReadonlyArray<RawEvent>> {
    // The answer includes the event at the position itself.
    const answers = await this.#reads.answers(logRequest(after, limit + 1, this.#names.ownEvents()), rawLogBytes);
    const messages = answers.flatMap((answer) => eventOf(answer) ?? []);
    const events = messages.map((message) => storedEvent(message, this.#names));
    return events.filter(({ position }) => position > after).slice(0, limit);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#removals.close();
    this.#log.close();
    this.#fed?.close();
    await this.#changes.close();
    await this.#appends.close(closeLimitMs);
    this.#writeAccess.close();
    this.#reads.close();
    await this.#availability.close();
    await this.#connection.close();
  }

  /** Searches among any number of events of other applications. Retries like reads. */
  async #search(request: ReadReq): Promise<ReadonlyArray<ReadResp>> {
    const end = clock.time() + this.#readWithinMs;
    for (;;) {
      try {
        return (await this.#reads.page(request, Number.POSITIVE_INFINITY, searchMs)).answers;
      } catch (error) {
        if (error instanceof PermanentlyUnavailableError || clock.time() + searchAgainMs > end) throw error;
        await delay(searchAgainMs);
      }
    }
  }
}

function noAnswer(): UnavailableError {
  return new UnavailableError('A thread that reads the log does not answer.');
}
