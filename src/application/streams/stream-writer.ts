import * as E from 'fp-ts/lib/Either.js';
import type { Tenant } from '#domain/shared/access.ts';
import { type Entity, type EventOf, streamName } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { storedBytes } from '#event-store/append-limits.ts';
import type { AppendFailure, EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { delay, withTimeout } from '#shared/async/timed-waits.ts';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';
import { metadataAfter, type Origin, sealAll } from './sealed-events.ts';
import { StreamLoader, type StreamLoaderOptions } from './stream-loader.ts';
import { foldStream, type StreamState } from './stream-state.ts';
import { StreamTurns, tooManyWaiting } from './stream-turns.ts';

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
/** The most appends to one stream that the store has accepted and not confirmed. */
const maxPendingAppends = 512;

/**
 * How a turn uses its stream. `pipelined`: it may end when its append is accepted, so that the next turn is decided on a
 * state that is not durable yet. `alone`: it waits until all appends before it are durable. `bypass`: it begins at once,
 * and may meet conflicts.
 */
export type TurnMode = 'pipelined' | 'alone' | 'bypass';

/** The newest of the appends to a stream that the store has accepted and not confirmed. */
interface PendingAppend {
  /** The same object for all appends of which each was decided on the one before it. */
  readonly line: object;
  /** How many of the line are pending, at most. */
  readonly depth: number;
  /** The state after it. */
  readonly state: StreamState<unknown>;
  /** The id of its last event. */
  readonly lastEventId: string;
  /** Whether it was stored. */
  readonly isStored: Promise<boolean>;
}

/** Loads and appends to streams. All commands append events through it, each in its turn on the stream. */
export class StreamWriter {
  readonly #store: EventStore;
  readonly #loader: StreamLoader;
  readonly #turns = new StreamTurns();
  /** By stream. */
  readonly #pending = new Map<string, PendingAppend>();
  readonly #deadlineMs: number;
  readonly #now: () => Date;
  readonly #soleWriter: boolean;
  readonly #listeners: Array<(appended: ReadonlyArray<RecordedEvent>) => void> = [];

  constructor(options: StreamWriterOptions) {
    this.#store = options.store;
    this.#soleWriter = options.soleWriter ?? false;
    this.#loader = new StreamLoader(options);
    this.#deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
    this.#now = options.now ?? (() => new Date(clock.time()));
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
   * @param mode `bypass` is only for a write within another stream's turn, where two turns could wait for each other
   *   forever:
   *
   *     create phone number A            create phone number B, same number
   *     has the turn of phoneNumber-A    has the turn of phoneNumber-B
   *     claims: waits for the turn of    claims: has the turn of phoneNumberClaim-N,
   *       phoneNumberClaim-N  ────────►    finds that A holds it and has not begun, and closes it:
   *                           ◄────────    would wait for the turn of phoneNumber-A
   * @param deadline until when the caller may wait, on this process's clock; default from now on
   * @throws UnavailableError if too many wait for the stream, or if the turn does not come before the deadline
   */
  async beginTurn<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    mode: TurnMode = 'alone',
    deadline = clock.now() + this.#deadlineMs,
  ): Promise<StreamTurn<State, Events>> {
    const stream = streamName(entity, id);
    if (mode === 'bypass') return new StreamTurn(this, entity, id, { deadline, isPipelined: false, end: null });
    await this.#turns.begin(stream, deadline);
    const end = () => this.#turns.end(stream);
    const pending = this.#pending.get(stream);
    const mustWait = pending !== undefined && (mode === 'alone' || pending.depth >= maxPendingAppends);
    if (mustWait && (await withTimeout(deadline - clock.now(), pending.isStored, null)) === null) {
      end();
      throw tooManyWaiting(stream);
    }
    const isPipelined = mode === 'pipelined';
    return new StreamTurn(this, entity, id, { deadline, isPipelined, end });
  }

  /** Only for `StreamTurn`: the newest append to a stream that is not confirmed yet. */
  pendingOn<State, Events>(entity: Entity<State, Events>, id: string): PendingAppend | null {
    return this.#pending.get(streamName(entity, id)) ?? null;
  }

  /**
   * Only for `StreamTurn`: the cached state, which may be stale; null without one, or if this process alone writes, so that
   * loading it costs nothing.
   */
  cachedOf<State, Events>(entity: Entity<State, Events>, id: string): StreamState<State> | null {
    return this.#soleWriter ? null : this.#loader.cached<State>(streamName(entity, id));
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

  /**
   * Only for `StreamTurn`: appends after a state.
   * @param decidedOn the pending append that left this state; null if the state is durable
   * @param isPipelined whether a later turn may be decided on this append before it is durable
   */
  async append<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    before: StreamState<State>,
    written: EventsToWrite<Events>,
    decidedOn: PendingAppend | null,
    isPipelined: boolean,
  ): Promise<AcceptedAppend<State>> {
    const stream = streamName(entity, id);
    const { sealed, recorded } = await this.#seal(stream, before, written);
    const after = foldStream(entity, before, recorded);
    const line = decidedOn?.line ?? {};
    // The store keeps the order of its calls.
    const appended = this.#store.append(stream, before.revision, sealed, decidedOn?.lastEventId);
    const settle = async (): Promise<AppendOutcome<State>> => {
      const result = await appended.catch((error: unknown) => {
        this.#loader.drop(stream);
        throw error;
      });
      if (E.isLeft(result)) {
        // What was decided on it will conflict. What comes next is decided on what is stored.
        if (this.#pending.get(stream)?.line === line) this.#pending.delete(stream);
        return this.#fail(stream, result.left);
      }
      const events = recorded.map((event) => ({ ...event, position: result.right.position }));
      this.#loader.keep(entity, stream, after);
      for (const listener of this.#listeners) listener(events);
      return { kind: 'stored', stream: after, events };
    };
    // It stays pending until its state is cached, so that no turn in between is decided on an older one.
    const outcome = settle().finally(() => this.#endPending(stream, line, recorded.at(-1)?.id));
    if (isPipelined) {
      const isStored = outcome.then(({ kind }) => kind === 'stored').catch(() => false);
      const depth = (decidedOn?.depth ?? 0) + 1;
      this.#pending.set(stream, { line, depth, state: after, lastEventId: recorded.at(-1)?.id ?? '', isStored });
    }
    return { outcome };
  }

  /** Removes an append that is settled, if it is the newest one. */
  #endPending(stream: string, line: object, lastEventId: string | undefined): void {
    const pending = this.#pending.get(stream);
    if (pending?.line === line && pending.lastEventId === lastEventId) this.#pending.delete(stream);
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
 * until it ends. The first state may be a cached one, or one that a pending append leaves. If another write has made it
 * stale, or the pending append fails, the append conflicts.
 */
export class StreamTurn<State, Events> {
  /** Until when the caller may wait, on this process's clock. */
  readonly deadline: number;
  readonly #writer: StreamWriter;
  readonly #entity: Entity<State, Events>;
  readonly #id: string;
  readonly #isPipelined: boolean;
  #end: (() => void) | null;
  #mayUseCached = true;
  #isLoaded = false;
  #decidedOn: PendingAppend | null = null;

  /** Only for `StreamWriter`. */
  constructor(
    writer: StreamWriter,
    entity: Entity<State, Events>,
    id: string,
    {
      deadline,
      isPipelined,
      end,
    }: {
      readonly deadline: number;
      readonly isPipelined: boolean;
      readonly end: (() => void) | null;
    },
  ) {
    this.#writer = writer;
    this.#entity = entity;
    this.#id = id;
    this.deadline = deadline;
    this.#isPipelined = isPipelined;
    this.#end = end;
  }

  /** Whether the next caller may begin when the append is accepted. Otherwise the turn ends when it is durable. */
  get isPipelined(): boolean {
    return this.#isPipelined;
  }

  /** Returns the state to decide on. @throws UnavailableError */
  async load(): Promise<StreamState<State>> {
    const pending = this.#isPipelined ? this.#writer.pendingOn(this.#entity, this.#id) : null;
    this.#decidedOn = pending;
    // The stream's name determines its entity.
    if (pending !== null) return pending.state as StreamState<State>;
    // Taken now: an append may have been stored since the turn began.
    const cached = this.#mayUseCached ? this.#writer.cachedOf(this.#entity, this.#id) : null;
    this.#mayUseCached = false;
    this.#isLoaded = cached === null;
    return cached ?? this.#writer.load(this.#entity, this.#id);
  }

  /**
   * Whether a state is the newest, and durable. A caller that appends nothing must ask, and decide again if it is not.
   * @param state the result of the last `load`
   * @throws UnavailableError
   */
  async isCurrent({ revision }: StreamState<State>): Promise<boolean> {
    if (this.#decidedOn !== null) return this.#decidedOn.isStored;
    if (this.#isLoaded) return true;
    return (await this.#writer.load(this.#entity, this.#id)).revision === revision;
  }

  /**
   * Appends after a state: resolves when the event store has accepted the events in the order of the stream.
   * @throws UnavailableError
   */
  append(before: StreamState<State>, written: EventsToWrite<Events>): Promise<AcceptedAppend<State>> {
    return this.#writer.append(this.#entity, this.#id, before, written, this.#decidedOn, this.#isPipelined);
  }

  /** Waits a moment after a conflict. @returns a failure after the deadline */
  async pauseAfterConflict(): Promise<Failure | null> {
    if (clock.now() > this.deadline) return tooManyConflicts;
    await delay(chance.random() * retryJitterMs);
    return null;
  }

  /** Lets the next caller begin. May be called again. */
  end(): void {
    this.#end?.();
    this.#end = null;
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
        isOutage: refused.isOutage === true,
      });
  }
}

const tooManyConflicts = failure('too-many-conflicts', 'Others kept changing the same resource. Try again.');
