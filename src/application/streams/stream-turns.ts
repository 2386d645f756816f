import * as E from 'fp-ts/lib/Either.js';
import { type Entity, streamName } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { AppendFailure, EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { delay, withTimeout } from '#shared/async/timed-waits.ts';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { StreamLoader } from './stream-loader.ts';
import { foldStream, type NextEvents, type StreamState, sealAfter } from './stream-state.ts';

/**
 * How a turn uses its stream. `pipelined`: it may end when its append is accepted, so that the next turn is decided on a
 * state that is not durable yet. `alone`: it waits until all appends before it are durable. `bypass`: it begins
 * immediately, and may meet conflicts. That is only for a write within another stream's turn, where two turns could wait
 * for each other forever:
 *
 *     create phone number A            create phone number B, same number
 *     has the turn of phoneNumber-A    has the turn of phoneNumber-B
 *     claims: waits for the turn of    claims: has the turn of phoneNumberClaim-N,
 *       phoneNumberClaim-N  ────────►    finds that A holds it and has not begun, and closes it:
 *                           ◄────────    would wait for the turn of phoneNumber-A
 */
export type WriteMode = 'pipelined' | 'alone' | 'bypass';

/** The result of a write. `events` is empty if nothing changed. */
export interface StreamWriteResult<State> {
  readonly stream: StreamState<State>;
  readonly events: ReadonlyArray<RecordedEvent>;
}

/** The outcome of an append. After a conflict the caller decides again. */
type AppendOutcome<State> =
  | ({ readonly kind: 'stored' } & StreamWriteResult<State>)
  | { readonly kind: 'conflict' }
  | { readonly kind: 'refused'; readonly failure: Failure };

/** The newest append on a stream that the store has accepted and not confirmed. */
interface PendingAppend {
  /** The same object for all appends of which each was decided on the one before it. */
  readonly line: object;
  /** Maximum number of appends in the line. */
  readonly depth: number;
  readonly state: StreamState<unknown>;
  readonly lastEventId: string;
  readonly isStored: Promise<boolean>;
}

const retryJitterMs = 10;
/** Maximum number of appends to one stream that the store has accepted and not confirmed. */
const maxPendingAppends = 512;

/** Maximum number of callers that wait for their turn on one stream. */
const defaultMaxWaiting = 1_000;

/** Gives callers of one stream their turns, one after another. Different streams do not wait for each other. */
export class StreamTurns {
  /** Functions that begin the waiting turns, for each stream in use. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #maxWaiting: number;

  /** @param maxWaiting maximum number of waiting callers of one stream */
  constructor(maxWaiting = defaultMaxWaiting) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Begins a turn after those of earlier callers. Needs one `end`.
   * @param deadline on this process's clock
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
        clock.clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(begin);
        reject(tooManyWaiting(stream));
      };
      const timer = clock.setTimeout(giveUp, Math.max(0, deadline - clock.now()));
      waiting.add(begin);
    });
  }

  /** Begins the next turn on the stream. */
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

/** Appends events, and knows the appends that the store has accepted and not confirmed. */
export class StreamAppends {
  readonly #store: Pick<EventStore, 'append'>;
  readonly #loader: StreamLoader;
  readonly #now: () => Date;
  /** The newest pending append of each stream. */
  readonly #pending = new Map<string, PendingAppend>();
  readonly #listeners: Array<(appended: ReadonlyArray<RecordedEvent>) => void> = [];

  constructor(store: Pick<EventStore, 'append'>, loader: StreamLoader, now: () => Date) {
    this.#store = store;
    this.#loader = loader;
    this.#now = now;
  }

  /** Called before the caller gets its answer. */
  onAppended(listener: (appended: ReadonlyArray<RecordedEvent>) => void): void {
    this.#listeners.push(listener);
  }

  pendingOn(stream: string): PendingAppend | null {
    return this.#pending.get(stream) ?? null;
  }

  /**
   * Resolves when the event store has accepted the events in the order of the stream.
   * @param decidedOn the pending append that left this state; null if the state is durable
   * @param isPipelined a later turn may be decided on this append before it is durable
   */
  async append<State, Events>(
    entity: Entity<State, Events>,
    stream: string,
    before: StreamState<State>,
    next: NextEvents<Events>,
    decidedOn: PendingAppend | null,
    isPipelined: boolean,
  ): Promise<{ readonly outcome: Promise<AppendOutcome<State>> }> {
    const { sealed, recorded } = await sealAfter(stream, before, next, this.#now());
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

  /** Ends the pending append if it is the newest one. */
  #endPending(stream: string, line: object, lastEventId: string | undefined): void {
    const pending = this.#pending.get(stream);
    if (pending?.line === line && pending.lastEventId === lastEventId) this.#pending.delete(stream);
  }

  /** Drops the cached state, which may be stale: another writer came first, or the outcome is unknown. */
  #fail(stream: string, refused: AppendFailure): Exclude<AppendOutcome<never>, { kind: 'stored' }> {
    if (refused.kind === 'unavailable') this.#loader.dropUncertain(stream);
    else this.#loader.drop(stream);
    return refused.kind === 'conflict' ? { kind: 'conflict' } : { kind: 'refused', failure: appendRefused(refused) };
  }
}

export interface TurnParts {
  readonly turns: StreamTurns;
  readonly appends: StreamAppends;
  readonly loader: StreamLoader;
}

/**
 * A caller loads, decides and appends in its turn, and again after a conflict. Other callers of this process wait until
 * it ends. The first state may be a cached one, or one that a pending append leaves. If another write has made it
 * stale, or the pending append fails, the append conflicts.
 */
export class StreamTurn<State, Events> {
  /** The deadline on this process's clock. */
  readonly deadline: number;
  /** The next caller may begin when the append is accepted. Otherwise the turn ends when it is durable. */
  readonly isPipelined: boolean;
  readonly #parts: TurnParts;
  readonly #entity: Entity<State, Events>;
  readonly #id: string;
  readonly #stream: string;
  readonly #mode: WriteMode;
  #hasBegun = false;
  #mayUseCached = true;
  #isLoaded = false;
  #decidedOn: PendingAppend | null = null;

  constructor(parts: TurnParts, entity: Entity<State, Events>, id: string, mode: WriteMode, deadline: number) {
    this.#parts = parts;
    this.#entity = entity;
    this.#id = id;
    this.#stream = streamName(entity, id);
    this.#mode = mode;
    this.isPipelined = mode === 'pipelined';
    this.deadline = deadline;
  }

  /**
   * Does nothing if the turn has begun.
   * @throws UnavailableError if too many wait for the stream, or if the turn does not come before the deadline
   */
  async begin(): Promise<void> {
    if (this.#hasBegun) return;
    if (this.#mode !== 'bypass') await this.#waitForTurn();
    this.#hasBegun = true;
    this.#mayUseCached = true;
  }

  async #waitForTurn(): Promise<void> {
    const { turns, appends } = this.#parts;
    await turns.begin(this.#stream, this.deadline);
    const pending = appends.pendingOn(this.#stream);
    if (pending === null || (this.isPipelined && pending.depth < maxPendingAppends)) return;
    if ((await withTimeout(this.deadline - clock.now(), pending.isStored, null)) !== null) return;
    turns.end(this.#stream);
    throw tooManyWaiting(this.#stream);
  }

  /** @throws UnavailableError */
  async load(): Promise<StreamState<State>> {
    const pending = this.isPipelined ? this.#parts.appends.pendingOn(this.#stream) : null;
    this.#decidedOn = pending;
    // The stream's name determines its entity.
    if (pending !== null) return pending.state as StreamState<State>;
    // Taken now: an append may have been stored since the turn began. A sole writer loads it without a read.
    const { loader } = this.#parts;
    const cached = this.#mayUseCached && !loader.isSoleWriter ? loader.cached<State>(this.#stream) : null;
    this.#mayUseCached = false;
    this.#isLoaded = cached === null;
    return cached ?? loader.load(this.#entity, this.#id);
  }

  /**
   * True if the state is the newest, and durable. A caller that appends nothing must ask, and decide again if it is
   * not.
   * @param state the result of the last `load`
   * @throws UnavailableError
   */
  async isCurrent({ revision }: StreamState<State>): Promise<boolean> {
    if (this.#decidedOn !== null) return this.#decidedOn.isStored;
    if (this.#isLoaded) return true;
    return (await this.#parts.loader.load(this.#entity, this.#id)).revision === revision;
  }

  /**
   * Resolves when the event store has accepted the events in the order of the stream. `outcome` resolves when they are
   * durable, or when it is known that they are not.
   * @throws UnavailableError
   */
  append(
    before: StreamState<State>,
    next: NextEvents<Events>,
  ): Promise<{ readonly outcome: Promise<AppendOutcome<State>> }> {
    return this.#parts.appends.append(this.#entity, this.#stream, before, next, this.#decidedOn, this.isPipelined);
  }

  /** @returns a failure after the deadline */
  async pauseAfterConflict(): Promise<Failure | null> {
    if (clock.now() > this.deadline) return tooManyConflicts;
    await delay(chance.random() * retryJitterMs);
    return null;
  }

  /** Lets the next caller begin. May be called again. */
  end(): void {
    if (this.#hasBegun && this.#mode !== 'bypass') this.#parts.turns.end(this.#stream);
    this.#hasBegun = false;
  }
}

const tooManyWaiting = (stream: string) =>
  new UnavailableError(`the ${stream.slice(0, stream.indexOf('-'))} has too many waiting writes.`);

export function appendTooLarge(bytes: number, maxBytes: number): Failure {
  return failure(
    'append-too-large',
    `The change would store ${bytes} bytes; ${maxBytes} are allowed. Send a smaller one.`,
  );
}

/** Maximum size of metadata, type and id. */
const metadataBytes = 2_048;

/** Refuses too large events before they are sealed. Their metadata counts with its maximum. */
export function refuseTooLarge(events: ReadonlyArray<object>, maxBytes: number): Failure | null {
  const bytes = Buffer.byteLength(JSON.stringify(events)) + metadataBytes * events.length;
  return bytes > maxBytes ? appendTooLarge(bytes, maxBytes) : null;
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
