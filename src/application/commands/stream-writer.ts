import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { LRUCache } from 'lru-cache';
import type { SnapshotStore } from '#application/snapshots/snapshot-store.ts';
import { StreamSnapshots } from '#application/snapshots/stream-snapshots.ts';
import { type Entity, type EventOf, streamName } from '#domain/shared/entity.ts';
import type { Actor, EventMetadata } from '#domain/shared/event.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import {
  type AppendFailure,
  type EventStore,
  type EventToAppend,
  noStream,
  type RecordedEvent,
} from '#event-store/event-store.ts';
import { seal } from '#event-store/hash-chain.ts';
import { newestVersion } from '#event-store/upcasting.ts';
import { heavyTurns, largeBodyBytes } from '#shared/async/heavy-turns.ts';
import { StreamQueue } from './stream-queue.ts';
import { emptyStream, foldStream, requestAnswered, type StreamState } from './stream-state.ts';

/** Who wants it and why: goes into the metadata of every event. */
export interface Origin {
  readonly actor: Actor;
  readonly requestId: string;
  readonly correlationId: string;
  readonly causationId: string;
}

/** What a decision comes to: events (none when all is so already), and whose a new stream is. */
export interface Decision<Events> {
  readonly events: ReadonlyArray<EventOf<Events>>;
  /** Whose these events are; null: whose the stream is. */
  readonly tenant: Tenant | null;
}

/**
 * What `write` is asked: decide, claim, append.
 * @typeParam Other what `decide` may come to besides events and a failure; `write` passes it through
 */
export interface StreamWrite<State, Events, Other = never> {
  readonly entity: Entity<State, Events>;
  /** An id in the stream. */
  readonly id: string;
  readonly origin: Origin;
  /** Remembers the request in the stream. */
  readonly idempotency?: { readonly key: string; readonly body: string };
  /**
   * Does not wait for its turn on this stream, and may meet conflicts instead. Only for a write within another stream's
   * turn, where two turns could wait for each other for ever:
   *
   *     create phone number A            create phone number B, same number
   *     has the turn of phoneNumber-A    has the turn of phoneNumber-B
   *     claims: waits for the turn of    claims: has the turn of phoneNumberClaim-N,
   *       phoneNumberClaim-N  ────────►    finds that A holds it and has not begun, and closes it:
   *                           ◄────────    would wait for the turn of phoneNumber-A
   */
  readonly bypassQueue?: boolean;
  /**
   * Decides on the current state; asked again after each conflict.
   * @param deadline until when it may wait, on `performance.now()`'s clock
   */
  readonly decide: (
    stream: StreamState<State>,
    deadline: number,
  ) => E.Either<Failure | Other, Decision<Events>> | Promise<E.Either<Failure | Other, Decision<Events>>>;
  /**
   * Takes, for what was decided, what only one may have. It follows the decision, so that what is refused claims
   * nothing, and is asked again after each conflict. @returns why it cannot be had; null when it is taken
   */
  readonly claim?: (events: ReadonlyArray<EventOf<Events>>) => Promise<Failure | null>;
}

/** What came of it: the state after it, and the events appended (none when all was so already). */
export interface StreamWriteResult<State> {
  readonly stream: StreamState<State>;
  readonly events: ReadonlyArray<RecordedEvent>;
}

export interface StreamWriterOptions {
  readonly store: EventStore;
  /**
   * Every append to the store comes through this handler, as on the embedded store: what is cached is current, and a
   * stream is read once. Default false.
   */
  readonly soleWriter?: boolean;
  /** Where snapshots of long streams are kept; without it such a stream is read from its beginning. */
  readonly snapshots?: SnapshotStore;
  /** Of the cache of states; default 64 MiB. */
  readonly cacheBytes?: number;
  /** Milliseconds in all, waiting and retries included; default 10,000. */
  readonly deadlineMilliseconds?: number;
  readonly now?: () => Date;
}

const defaultCacheBytes = 64 * 1024 * 1024;
const defaultDeadlineMilliseconds = 10_000;
const retryJitterMilliseconds = 10;
/** Events of a stream read at a time at most. */
const eventsRead = 100;
/** Roughly what a state takes: no text of a client's is in it, and what there may be many of weighs itself. */
const bytesOfState = ({ stream, weight }: CachedState) => 1024 + 512 * stream.remembered.held + weight;
/** Streams of which it is not known what was stored last, at most, and how long that is minded. */
const maxStreamsWithUnknownOutcome = 10_000;
const unknownOutcomeMs = 10 * 60 * 1000;

interface CachedState {
  readonly stream: StreamState<unknown>;
  readonly weight: number;
}

/**
 * Loads, decides, appends: the one way by which events come to be. States are cached by stream; only newer events are
 * read. Commands on one stream of this process take turns; other processes' writes show as conflicts and are retried.
 */
export class StreamWriter {
  readonly #store: EventStore;
  readonly #states: LRUCache<string, CachedState>;
  /** An append to them was given up and may land yet: they are read anew each time. */
  readonly #unsure = new LRUCache<string, true>({ max: maxStreamsWithUnknownOutcome, ttl: unknownOutcomeMs });
  /** The first reading of streams that are not cached, which all who want one share. */
  readonly #firstReadings = new Map<string, Promise<StreamState<unknown>>>();
  readonly #snapshots: StreamSnapshots | null;
  readonly #queue = new StreamQueue();
  readonly #deadline: number;
  readonly #now: () => Date;
  readonly #soleWriter: boolean;
  readonly #listeners: Array<(appended: ReadonlyArray<RecordedEvent>) => void> = [];

  constructor({ store, soleWriter, snapshots, cacheBytes, deadlineMilliseconds, now }: StreamWriterOptions) {
    this.#store = store;
    this.#soleWriter = soleWriter ?? false;
    this.#states = new LRUCache({ maxSize: cacheBytes ?? defaultCacheBytes, sizeCalculation: bytesOfState });
    const eventOf = async (stream: string, revision: number) => (await store.read(stream, revision, 1)).events[0];
    this.#snapshots = snapshots === undefined ? null : new StreamSnapshots(snapshots, eventOf);
    this.#deadline = deadlineMilliseconds ?? defaultDeadlineMilliseconds;
    this.#now = now ?? (() => new Date());
  }

  /** From now on the listener is handed what this handler appends, before whoever wanted it is answered. */
  onAppended(listener: (appended: ReadonlyArray<RecordedEvent>) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * A stream's current state.
   * @param seen a revision that the caller knows to be stored: subscribers may learn of an event before whoever
   *   appended it is answered
   * @throws UnavailableError
   */
  async load<State, Events>(entity: Entity<State, Events>, id: string, seen = 0): Promise<StreamState<State>> {
    const stream = streamName(entity, id);
    const reading = this.#firstReadings.get(stream);
    if (this.#states.get(stream) === undefined && reading === undefined) return this.#readFirst(entity, stream);
    // The cache may have had no room for what the other reading came to.
    const known = this.#cached<State>(stream) ?? ((await reading) as StreamState<State>);
    if (this.#soleWriter && known.revision >= seen && !this.#unsure.has(stream)) return known;
    const current = await this.#foldOn(entity, stream, known, Number.POSITIVE_INFINITY);
    return current === known ? known : this.#keep(entity, stream, current);
  }

  async #readFirst<State, Events>(entity: Entity<State, Events>, stream: string): Promise<StreamState<State>> {
    const reading = this.#foldOn(entity, stream, emptyStream(entity), Number.POSITIVE_INFINITY);
    this.#firstReadings.set(stream, reading);
    try {
      const current = await reading;
      return current.revision === noStream ? current : this.#keep(entity, stream, current);
    } finally {
      this.#firstReadings.delete(stream);
    }
  }

  /** A stream's state as it was at a revision, from the log. @throws UnavailableError */
  async loadAt<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    revision: number,
  ): Promise<StreamState<State>> {
    return this.#foldOn(entity, streamName(entity, id), emptyStream(entity), revision);
  }

  /** One event of a stream. @throws UnavailableError */
  async eventAt<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<RecordedEvent> {
    const { events } = await this.#store.read(streamName(entity, id), revision, 1);
    const [event] = events;
    if (event === undefined) throw new Error(`${streamName(entity, id)} has no event at revision ${revision}`);
    return event;
  }

  /**
   * Decides, claims and appends, retrying conflicts until the deadline.
   * @returns what was appended, or what `decide` came to instead. @throws UnavailableError
   */
  write<State, Events, Other = never>(
    write: StreamWrite<State, Events, Other>,
  ): Promise<E.Either<Failure | Other, StreamWriteResult<State>>> {
    const stream = streamName(write.entity, write.id);
    const deadline = performance.now() + this.#deadline;
    const task = () => this.#decideClaimAppend(stream, write, deadline);
    return write.bypassQueue === true ? task() : this.#queue.run(stream, deadline, task);
  }

  async #decideClaimAppend<State, Events, Other>(
    stream: string,
    write: StreamWrite<State, Events, Other>,
    deadline: number,
  ): Promise<E.Either<Failure | Other, StreamWriteResult<State>>> {
    for (;;) {
      const before = await this.load(write.entity, write.id);
      const decision = await write.decide(before, deadline);
      if (E.isLeft(decision)) return decision;
      const refusal = write.claim === undefined ? null : await write.claim(decision.right.events);
      if (refusal !== null) return E.left(refusal);
      const events = orRemembered(decision.right.events, write.idempotency !== undefined);
      if (events.length === 0) return E.right({ stream: before, events: [] });
      const appended = await this.#append(stream, before, events, decision.right.tenant, write);
      if (E.isRight(appended)) {
        const after = this.#keep(write.entity, stream, foldStream(write.entity, before, appended.right));
        for (const listener of this.#listeners) listener(appended.right);
        return E.right({ stream: after, events: appended.right });
      }
      // Somebody else wrote, or nobody knows what was stored or will be: what is cached may be old.
      this.#states.delete(stream);
      if (appended.left.kind === 'unavailable') this.#unsure.set(stream, true);
      if (appended.left.kind !== 'conflict') return E.left(appendRefused(appended.left));
      if (performance.now() > deadline) {
        return E.left(failure('too-many-conflicts', 'Others kept changing the same resource. Try again.'));
      }
      await sleep(Math.random() * retryJitterMilliseconds);
    }
  }

  async #append<State, Events>(
    stream: string,
    before: StreamState<State>,
    events: ReadonlyArray<EventOf<Events>>,
    newTenant: Tenant | null,
    { origin, idempotency }: Pick<StreamWrite<State, Events>, 'origin' | 'idempotency'>,
  ): Promise<E.Either<AppendFailure, ReadonlyArray<RecordedEvent>>> {
    const tenant = newTenant ?? before.tenant;
    if (tenant === null) throw new Error(`the first event of ${stream} has no tenant`);
    const now = this.#now().toISOString();
    const metadata = {
      $correlationId: origin.correlationId,
      $causationId: origin.causationId,
      actor: origin.actor,
      organizationId: tenant.organizationId,
      projectId: tenant.projectId,
      partnerId: tenant.partnerId,
      requestId: origin.requestId,
      time: now > before.time ? now : before.time,
      ...(idempotency ? { idempotency } : {}),
    };
    const { sealed, recorded } = await sealAll(stream, before, events, metadata);
    const appended = await this.#store.append(stream, before.revision, sealed)();
    if (E.isLeft(appended)) return appended;
    const { position } = appended.right;
    return E.right(recorded.map((event) => ({ ...event, position })));
  }

  /**
   * Folds what follows a state, up to a revision, a part at a time: a stream of large payloads is never in memory as a
   * whole, and others are served between two parts of a long one. Once a stream proves to be long, its snapshot is
   * looked for: most streams have none.
   */
  async #foldOn<State, Events>(
    entity: Entity<State, Events>,
    stream: string,
    from: StreamState<State>,
    upTo: number,
  ): Promise<StreamState<State>> {
    let state = from;
    for (let parts = 1; state.revision < upTo; parts += 1) {
      const limit = Math.min(eventsRead, upTo - state.revision);
      const { events, isEnd } = await this.#store.read(stream, state.revision + 1, limit);
      state = foldStream(entity, state, events);
      if (isEnd || state.revision >= upTo) break;
      const snapshot = parts === 1 ? await this.#snapshots?.find(entity, stream, upTo) : null;
      if (snapshot != null && snapshot.revision > state.revision) state = snapshot;
      await nextTurn();
    }
    return state;
  }

  #cached<State>(stream: string): StreamState<State> | undefined {
    // A stream's category names its entity, so what was cached under its name is this entity's state.
    return this.#states.get(stream)?.stream as StreamState<State> | undefined;
  }

  /** Keeps the newer of two states: commands that only read may finish late. */
  #keep<State, Events>(entity: Entity<State, Events>, stream: string, state: StreamState<State>): StreamState<State> {
    const kept = this.#states.peek(stream)?.stream;
    if (kept === undefined || kept.revision < state.revision) {
      this.#states.set(stream, { stream: state, weight: entity.weigh?.(state.state) ?? 0 });
      this.#snapshots?.note(entity, stream, state);
    }
    return state;
  }
}

type MetadataToSeal = Omit<EventMetadata, 'hash' | 'prevHash' | 'schemaVersion'>;

/** A large event is written in one turn of the event loop, and hashed in another. */
async function sealAll<Events>(
  stream: string,
  before: StreamState<unknown>,
  events: ReadonlyArray<EventOf<Events>>,
  metadata: MetadataToSeal,
): Promise<{ sealed: EventToAppend[]; recorded: RecordedEvent[] }> {
  const sealed: EventToAppend[] = [];
  const recorded: RecordedEvent[] = [];
  let prevHash = before.hash;
  let revision = before.revision;
  for (const { type, data } of events) {
    revision += 1;
    const id = randomUUID();
    const versioned = { ...metadata, schemaVersion: newestVersion(upcasters, type) };
    const text = JSON.stringify(data);
    if (text.length > largeBodyBytes) await heavyTurns.take(1);
    const made = seal(stream, revision, prevHash, { id, type, data: data as object }, versioned, text);
    sealed.push(made.event);
    recorded.push({
      position: 0,
      stream,
      revision,
      id,
      type,
      data: data as RecordedEvent['data'],
      metadata: { ...versioned, prevHash, hash: made.hash },
    });
    prevHash = made.hash;
  }
  return { sealed, recorded };
}

function orRemembered<Events>(
  events: ReadonlyArray<EventOf<Events>>,
  remember: boolean,
): ReadonlyArray<EventOf<Events>> {
  if (events.length > 0 || !remember) return events;
  return [{ type: requestAnswered, data: {} } as unknown as EventOf<Events>];
}

/** A change takes more bytes than one append may. */
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
      return failure('unavailable', `The event store cannot take the change just now: ${refused.detail}`, {
        retryAfterSeconds: refused.retryAfterSeconds,
      });
  }
}
