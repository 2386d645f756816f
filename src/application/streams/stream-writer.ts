import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { Tenant } from '#domain/shared/access.ts';
import { type Entity, type EventOf, streamName } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { storedBytes } from '#event-store/append-limits.ts';
import type { AppendFailure, EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { metadataAfter, type Origin, sealAll } from './sealed-events.ts';
import { StreamLoader, type StreamLoaderOptions } from './stream-loader.ts';
import { foldStream, type StreamState } from './stream-state.ts';

export interface StreamWriterOptions extends Omit<StreamLoaderOptions, 'store'> {
  readonly store: EventStore;
  /** The time limit of a turn in milliseconds, including waits and retries; default 10,000. */
  readonly deadlineMs?: number;
  readonly now?: () => Date;
}

/** Events for a stream, and the data of their metadata. */
export interface EventsToWrite<Events> {
  readonly events: ReadonlyArray<EventOf<Events>>;
  /** Their tenant; null for the stream's. */
  readonly tenant: Tenant | null;
  readonly origin: Origin;
  /** Remembers the request in the stream. */
  readonly idempotency?: { readonly key: string; readonly body: string };
}

/** A completed write: the state after it, and the appended events (none if nothing changed). */
export interface StreamWriteResult<State> {
  readonly stream: StreamState<State>;
  readonly events: ReadonlyArray<RecordedEvent>;
}

/** The outcome of an append. After a conflict the caller decides again. */
export type AppendOutcome<State> =
  | ({ readonly kind: 'stored' } & StreamWriteResult<State>)
  | { readonly kind: 'conflict' }
  | { readonly kind: 'refused'; readonly failure: Failure };

/** An append that the event store has accepted in the order of the stream. */
export interface AcceptedAppend<State> {
  /** Resolves when the events are durable, or when it is known that they are not. @throws UnavailableError */
  readonly outcome: Promise<AppendOutcome<State>>;
}

const defaultDeadlineMs = 10_000;
const retryJitterMs = 10;

/** Loads and appends to streams. All commands append events through it, each in its turn on the stream. */
export class StreamWriter {
  readonly #store: EventStore;
  readonly #loader: StreamLoader;
  readonly #turns = new StreamTurns();
  readonly #deadlineMs: number;
  readonly #now: () => Date;
  readonly #soleWriter: boolean;
  readonly #listeners: Array<(appended: ReadonlyArray<RecordedEvent>) => void> = [];

  constructor(options: StreamWriterOptions) {
    this.#store = options.store;
    this.#soleWriter = options.soleWriter ?? false;
    this.#loader = new StreamLoader(options);
    this.#deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
    this.#now = options.now ?? (() => new Date());
  }

  /** Adds a listener for the appended events. It gets them before the caller gets its answer. */
  onAppended(listener: (appended: ReadonlyArray<RecordedEvent>) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Returns a stream's current state.
   * @param minRevision a revision that the caller knows to be stored: subscribers may get an event before its writer
   *   gets an answer
   * @throws UnavailableError
   */
  load<State, Events>(entity: Entity<State, Events>, id: string, minRevision = 0): Promise<StreamState<State>> {
    return this.#loader.load(entity, id, minRevision);
  }

  /**
   * A stream's cached state, which may be stale: enough for facts that never change. Reads the stream if it is not
   * cached.
   * @throws UnavailableError
   */
  loadCached<State, Events>(entity: Entity<State, Events>, id: string): Promise<StreamState<State>> {
    return this.#loader.loadCached(entity, id);
  }

  /** Updates cached states with events that this process or another has stored. */
  observe(events: ReadonlyArray<RecordedEvent>): void {
    this.#loader.observe(events);
  }

  /**
   * A stream's state as it was at a revision, from the log.
   * @throws UnavailableError
   */
  loadAt<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<StreamState<State>> {
    return this.#loader.loadAt(entity, id, revision);
  }

  /**
   * One event of a stream.
   * @throws UnavailableError
   */
  eventAt<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<RecordedEvent> {
    return this.#loader.eventAt(entity, id, revision);
  }

  /**
   * Waits for a turn on a stream. The caller must end it.
   * @param bypassQueue begins at once, and may meet conflicts instead. Only for a write within another stream's turn,
   *   where two turns could wait for each other forever:
   *
   *     create phone number A            create phone number B, same number
   *     has the turn of phoneNumber-A    has the turn of phoneNumber-B
   *     claims: waits for the turn of    claims: has the turn of phoneNumberClaim-N,
   *       phoneNumberClaim-N  ────────►    finds that A holds it and has not begun, and closes it:
   *                           ◄────────    would wait for the turn of phoneNumber-A
   * @throws UnavailableError if too many wait for the stream, or if the turn does not come before the deadline
   */
  async beginTurn<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    bypassQueue = false,
  ): Promise<StreamTurn<State, Events>> {
    const stream = streamName(entity, id);
    const deadline = performance.now() + this.#deadlineMs;
    if (!bypassQueue) await this.#turns.begin(stream, deadline);
    const end = bypassQueue ? () => undefined : () => this.#turns.end(stream);
    const cached = this.#soleWriter ? null : this.#loader.cached<State>(stream);
    return new StreamTurn(this, entity, id, cached, deadline, end);
  }

  /**
   * Returns the state and the events that a write would have, in recorded form. Appends nothing.
   * @param maxBytes the most stored bytes of one append
   */
  async planWrite<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    before: StreamState<State>,
    written: EventsToWrite<Events>,
    maxBytes: number,
  ): Promise<E.Either<Failure, StreamWriteResult<State>>> {
    const { sealed, recorded } = await this.#seal(streamName(entity, id), before, written);
    const bytes = storedBytes(sealed);
    if (bytes > maxBytes) return E.left(appendTooLarge(bytes, maxBytes));
    return E.right({ stream: foldStream(entity, before, recorded), events: recorded });
  }

  /** Only for `StreamTurn`: appends after a state. */
  async append<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    before: StreamState<State>,
    written: EventsToWrite<Events>,
  ): Promise<AcceptedAppend<State>> {
    const stream = streamName(entity, id);
    const { sealed, recorded } = await this.#seal(stream, before, written);
    // The store keeps the order of its calls.
    const appended = this.#store.append(stream, before.revision, sealed);
    const settle = async (): Promise<AppendOutcome<State>> => {
      const result = await appended;
      if (E.isLeft(result)) return this.#fail(stream, result.left);
      const events = recorded.map((event) => ({ ...event, position: result.right.position }));
      const after = this.#loader.keep(entity, stream, foldStream(entity, before, events));
      for (const listener of this.#listeners) listener(events);
      return { kind: 'stored', stream: after, events };
    };
    return { outcome: settle() };
  }

  /** Another writer came first, or the outcome is unknown, so the cached state may be stale. */
  #fail(stream: string, refused: AppendFailure): Exclude<AppendOutcome<never>, { kind: 'stored' }> {
    if (refused.kind === 'unavailable') this.#loader.dropUncertain(stream);
    else this.#loader.drop(stream);
    return refused.kind === 'conflict' ? { kind: 'conflict' } : { kind: 'refused', failure: appendRefused(refused) };
  }

  #seal<Events>(
    stream: string,
    before: StreamState<unknown>,
    { events, tenant, origin, idempotency }: EventsToWrite<Events>,
  ) {
    const metadata = metadataAfter(stream, before, tenant, origin, this.#now());
    return sealAll(stream, before, events, { ...metadata, ...(idempotency ? { idempotency } : {}) });
  }
}

/**
 * A caller's turn on a stream: load, decide, append, and again after a conflict. Other callers of this process wait
 * until it ends. The first state may be a cached one. If another node's write has made it stale, the append conflicts.
 */
export class StreamTurn<State, Events> {
  /** Until when the caller may wait, on `performance.now()`'s clock. */
  readonly deadline: number;
  readonly #writer: StreamWriter;
  readonly #entity: Entity<State, Events>;
  readonly #id: string;
  readonly #end: () => void;
  #cached: StreamState<State> | null;
  #isLoaded = false;

  /** Only for `StreamWriter`. @param cached the state that may be stale */
  constructor(
    writer: StreamWriter,
    entity: Entity<State, Events>,
    id: string,
    cached: StreamState<State> | null,
    deadline: number,
    end: () => void,
  ) {
    this.#writer = writer;
    this.#entity = entity;
    this.#id = id;
    this.#cached = cached;
    this.deadline = deadline;
    this.#end = end;
  }

  /** Returns the state to decide on. @throws UnavailableError */
  async load(): Promise<StreamState<State>> {
    const cached = this.#cached;
    this.#cached = null;
    this.#isLoaded = cached === null;
    return cached ?? this.#writer.load(this.#entity, this.#id);
  }

  /**
   * Whether a state is the newest. A caller that appends nothing must ask, and decide again if it is not.
   * @param state the result of the last `load`
   * @throws UnavailableError
   */
  async isCurrent({ revision }: StreamState<State>): Promise<boolean> {
    if (this.#isLoaded) return true;
    return (await this.#writer.load(this.#entity, this.#id)).revision === revision;
  }

  /**
   * Appends after a state: resolves when the event store has accepted the events in the order of the stream.
   * @throws UnavailableError
   */
  append(before: StreamState<State>, written: EventsToWrite<Events>): Promise<AcceptedAppend<State>> {
    return this.#writer.append(this.#entity, this.#id, before, written);
  }

  /** Waits a moment after a conflict. @returns a failure after the deadline */
  async pauseAfterConflict(): Promise<Failure | null> {
    if (performance.now() > this.deadline) return tooManyConflicts;
    await sleep(Math.random() * retryJitterMs);
    return null;
  }

  /** Lets the next caller begin. */
  end(): void {
    this.#end();
  }
}

/** The refusal of a change with more bytes than one append may have. */
export function appendTooLarge(bytes: number, maxBytes: number): Failure {
  return failure(
    'append-too-large',
    `The change would store ${bytes} bytes; ${maxBytes} are allowed. Send a smaller one.`,
  );
}

function appendRefused(refused: Exclude<AppendFailure, { kind: 'conflict' }>): Failure {
  switch (refused.kind) {
    case 'append-too-large':
      return appendTooLarge(refused.bytes, refused.maxBytes);
    case 'unavailable':
      return failure('unavailable', `The event store cannot store the change now: ${refused.detail}`, {
        retryAfterSeconds: refused.retryAfterSeconds,
      });
  }
}

const tooManyConflicts = failure('too-many-conflicts', 'Others kept changing the same resource. Try again.');

/** The most callers that wait for their turn on one stream. */
const defaultMaxWaiting = 1_000;

/** Lets callers use each stream one after another. Different streams do not wait for each other. */
export class StreamTurns {
  /** For each stream in use, the callbacks that begin the waiting turns. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #maxWaiting: number;

  /** @param maxWaiting the most waiting callers of one stream */
  constructor(maxWaiting = defaultMaxWaiting) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for the turns of earlier callers. Needs one `end`.
   * @param deadline on `performance.now()`'s clock
   * @throws UnavailableError if too many wait, or after the deadline
   */
  async begin(stream: string, deadline: number): Promise<void> {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) {
      this.#waiting.set(stream, new Set());
      return;
    }
    if (waiting.size >= this.#maxWaiting) throw tooManyWaiting(stream);
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(begin);
        reject(tooManyWaiting(stream));
      };
      const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()));
      waiting.add(begin);
    });
  }

  /** Ends the turn on a stream, and begins the next one. */
  end(stream: string): void {
    const waiting = this.#waiting.get(stream);
    const [begin] = waiting ?? [];
    if (begin === undefined) {
      this.#waiting.delete(stream);
      return;
    }
    waiting?.delete(begin);
    begin();
  }
}

const tooManyWaiting = (stream: string) =>
  new UnavailableError(`the ${stream.slice(0, stream.indexOf('-'))} has too many waiting writes.`);
