import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { type Entity, type EventOf, streamName } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import { storedBytes } from '#event-store/append-size.ts';
import type { AppendFailure, EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { foldStream, requestAnswered, type StreamState } from './stream-state.ts';
import { appendRefused, appendTooLarge } from './streams/append-refusals.ts';
import { metadataAfter, sealAll } from './streams/sealed-events.ts';
import { StreamLoader, type StreamLoaderOptions } from './streams/stream-loader.ts';
import { StreamQueue } from './streams/stream-queue.ts';
import type { StreamWrite, StreamWriteResult } from './streams/stream-write.ts';

export interface StreamWriterOptions extends Omit<StreamLoaderOptions, 'store'> {
  readonly store: EventStore;
  /** The time limit in milliseconds, including waits and retries; default 10,000. */
  readonly deadlineMs?: number;
  readonly now?: () => Date;
}

const defaultDeadlineMs = 10_000;
const retryJitterMs = 10;

/** The result of a decision: events to append, or an answer without an append. */
type DecisionOutcome<State, Events, Other> =
  | { readonly kind: 'append'; readonly events: ReadonlyArray<EventOf<Events>>; readonly tenant: Tenant | null }
  | { readonly kind: 'answer'; readonly answer: E.Either<Failure | Other, StreamWriteResult<State>> };

/**
 * Loads, decides and appends. All commands append events through it. A command decides from the cached state of its
 * stream. If another node's write has made it stale, the append conflicts, and the command decides again. A result
 * without an append is answered only after the stream is read. Commands of this process on one stream take turns.
 */
export class StreamWriter {
  readonly #store: EventStore;
  readonly #loader: StreamLoader;
  readonly #queue = new StreamQueue();
  readonly #deadline: number;
  readonly #now: () => Date;
  readonly #soleWriter: boolean;
  readonly #listeners: Array<(appended: ReadonlyArray<RecordedEvent>) => void> = [];

  constructor(options: StreamWriterOptions) {
    this.#store = options.store;
    this.#soleWriter = options.soleWriter ?? false;
    this.#loader = new StreamLoader(options);
    this.#deadline = options.deadlineMs ?? defaultDeadlineMs;
    this.#now = options.now ?? (() => new Date());
  }

  /** Adds a listener for the appended events. It gets them before the caller gets its answer. */
  onAppended(listener: (appended: ReadonlyArray<RecordedEvent>) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Returns a stream's current state.
   * @param seen a revision that the caller knows to be stored: subscribers may get an event before its writer gets an
   *   answer
   * @throws UnavailableError
   */
  load<State, Events>(entity: Entity<State, Events>, id: string, seen = 0): Promise<StreamState<State>> {
    return this.#loader.load(entity, id, seen);
  }

  /**
   * A stream's cached state, which may be stale: enough for facts that never change. Reads the stream if it is not
   * cached.
   * @throws UnavailableError
   */
  loadKnown<State, Events>(entity: Entity<State, Events>, id: string): Promise<StreamState<State>> {
    return this.#loader.loadKnown(entity, id);
  }

  /** Updates cached states with events that this process or another has stored. */
  see(events: ReadonlyArray<RecordedEvent>): void {
    this.#loader.see(events);
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
   * Decides, claims and appends, and retries conflicts until the deadline.
   * @returns the appended events, or the other result of `decide`.
   * @throws UnavailableError
   */
  write<State, Events, Other = never>(
    write: StreamWrite<State, Events, Other>,
  ): Promise<E.Either<Failure | Other, StreamWriteResult<State>>> {
    const stream = streamName(write.entity, write.id);
    const deadline = performance.now() + this.#deadline;
    const task = () => this.#decideClaimAppend(stream, write, deadline);
    return write.bypassQueue === true ? task() : this.#queue.run(stream, deadline, task);
  }

  /**
   * Returns the events that a write would append now. Claims and appends nothing.
   * @param maxBytes the most bytes of one append
   * @throws UnavailableError
   */
  async rehearse<State, Events, Other = never>(
    { entity, id, origin, decide }: Pick<StreamWrite<State, Events, Other>, 'entity' | 'id' | 'origin' | 'decide'>,
    maxBytes: number,
  ): Promise<E.Either<Failure | Other, StreamWriteResult<State> & { readonly before: StreamState<State> }>> {
    const stream = streamName(entity, id);
    const before = await this.load(entity, id);
    const decision = await decide(before, performance.now() + this.#deadline);
    if (E.isLeft(decision)) return decision;
    const { events, tenant } = decision.right;
    if (events.length === 0) return E.right({ before, stream: before, events: [] });
    const metadata = metadataAfter(stream, before, tenant, origin, this.#now());
    const { sealed, recorded } = await sealAll(stream, before, events, metadata);
    const bytes = storedBytes(sealed);
    if (bytes > maxBytes) return E.left(appendTooLarge(bytes, maxBytes));
    return E.right({ before, stream: foldStream(entity, before, recorded), events: recorded });
  }

  async #decideClaimAppend<State, Events, Other>(
    stream: string,
    write: StreamWrite<State, Events, Other>,
    deadline: number,
  ): Promise<E.Either<Failure | Other, StreamWriteResult<State>>> {
    let known = this.#soleWriter ? null : this.#loader.known<State>(stream);
    for (;;) {
      const before = known ?? (await this.load(write.entity, write.id));
      const isCurrent = known === null;
      const outcome = await this.#decide(before, write, deadline);
      known = null;
      if (outcome.kind === 'answer') {
        if (isCurrent) return outcome.answer;
        const current = await this.load(write.entity, write.id);
        if (current.revision === before.revision) return outcome.answer;
        continue;
      }
      const appended = await this.#append(stream, before, outcome.events, outcome.tenant, write);
      if (E.isRight(appended)) {
        const after = this.#loader.keep(write.entity, stream, foldStream(write.entity, before, appended.right));
        for (const listener of this.#listeners) listener(appended.right);
        return E.right({ stream: after, events: appended.right });
      }
      // Another writer came first, or the outcome is unknown, so the cached state may be stale.
      if (appended.left.kind === 'unavailable') this.#loader.dropUnsure(stream);
      else this.#loader.drop(stream);
      if (appended.left.kind !== 'conflict') return E.left(appendRefused(appended.left));
      if (performance.now() > deadline) {
        return E.left(failure('too-many-conflicts', 'Others kept changing the same resource. Try again.'));
      }
      await sleep(Math.random() * retryJitterMs);
    }
  }

  async #decide<State, Events, Other>(
    before: StreamState<State>,
    write: StreamWrite<State, Events, Other>,
    deadline: number,
  ): Promise<DecisionOutcome<State, Events, Other>> {
    const decision = await write.decide(before, deadline);
    if (E.isLeft(decision)) return { kind: 'answer', answer: decision };
    const refusal = write.claim === undefined ? null : await write.claim(decision.right);
    if (refusal !== null) return { kind: 'answer', answer: E.left(refusal) };
    const events = orRemembered(decision.right.events, write.idempotency !== undefined);
    if (events.length === 0) return { kind: 'answer', answer: E.right({ stream: before, events: [] }) };
    return { kind: 'append', events, tenant: decision.right.tenant };
  }

  async #append<State, Events>(
    stream: string,
    before: StreamState<State>,
    events: ReadonlyArray<EventOf<Events>>,
    newTenant: Tenant | null,
    { origin, idempotency }: Pick<StreamWrite<State, Events>, 'origin' | 'idempotency'>,
  ): Promise<E.Either<AppendFailure, ReadonlyArray<RecordedEvent>>> {
    const metadata = metadataAfter(stream, before, newTenant, origin, this.#now());
    const { sealed, recorded } = await sealAll(stream, before, events, {
      ...metadata,
      ...(idempotency ? { idempotency } : {}),
    });
    const appended = await this.#store.append(stream, before.revision, sealed)();
    if (E.isLeft(appended)) return appended;
    const { position } = appended.right;
    return E.right(recorded.map((event) => ({ ...event, position })));
  }
}

function orRemembered<Events>(
  events: ReadonlyArray<EventOf<Events>>,
  remember: boolean,
): ReadonlyArray<EventOf<Events>> {
  if (events.length > 0 || !remember) return events;
  return [{ type: requestAnswered, data: {} } as unknown as EventOf<Events>];
}
