import * as E from 'fp-ts/lib/Either.js';
import type { Tenant } from '#domain/shared/access.ts';
import { type Entity, type EventOf, streamName } from '#domain/shared/entity.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { storedBytes } from '#event-store/append-limits.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { clock } from '#shared/clock.ts';
import { StreamLoader, type StreamLoaderOptions } from './stream-loader.ts';
import { foldStream, type NextEvents, type StreamState, sealAfter } from './stream-state.ts';
import {
  appendTooLarge,
  StreamAppends,
  StreamTurn,
  StreamTurns,
  type StreamWriteResult,
  type TurnParts,
  type WriteMode,
} from './stream-turns.ts';

export interface StreamWriterOptions extends Omit<StreamLoaderOptions, 'store'> {
  readonly store: EventStore;
  /** Time limit of a write, including waits and retries; default 10,000. */
  readonly deadlineMs?: number;
  readonly now?: () => Date;
}

export interface Decision<Events> {
  readonly events: ReadonlyArray<EventOf<Events>>;
  /** The tenant; null for the stream's. */
  readonly tenant: Tenant | null;
}

/** A write by a command, as a part of one, or by a process. `Refusal` is what its decision may refuse with. */
export interface StreamWrite<State, Events, Refusal = Failure>
  extends Pick<NextEvents<Events>, 'origin' | 'idempotency'> {
  readonly entity: Entity<State, Events>;
  readonly id: string;
  /** Default `alone`. */
  readonly mode?: WriteMode;
  /** The state for the first decision, if it is known without a read. */
  readonly known?: StreamState<State> | null;
  /** Called again after each conflict. @param deadline until when it may wait, on this process's clock */
  readonly decide: (
    stream: StreamState<State>,
    deadline: number,
  ) => E.Either<Refusal, Decision<Events>> | Promise<E.Either<Refusal, Decision<Events>>>;
}

const defaultDeadlineMs = 10_000;

/** Appends all events of commands and processes, each in its turn. */
export class StreamWriter {
  readonly #loader: StreamLoader;
  readonly #appends: StreamAppends;
  readonly #parts: TurnParts;
  readonly #deadlineMs: number;
  readonly #now: () => Date;

  constructor(options: StreamWriterOptions) {
    this.#deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
    this.#now = options.now ?? (() => new Date(clock.time()));
    this.#loader = new StreamLoader(options);
    this.#appends = new StreamAppends(options.store, this.#loader, this.#now);
    this.#parts = { turns: new StreamTurns(), appends: this.#appends, loader: this.#loader };
  }

  /** Called before the caller gets its answer. */
  onAppended(listener: (appended: ReadonlyArray<RecordedEvent>) => void): void {
    this.#appends.onAppended(listener);
  }

  /**
   * @param minRevision a revision that the caller knows to be stored: subscribers may get an event before its writer
   * gets an answer
   * @throws UnavailableError
   */
  load<State, Events>(entity: Entity<State, Events>, id: string, minRevision = 0): Promise<StreamState<State>> {
    return this.#loader.load(entity, id, minRevision);
  }

  /**
   * Loads a state that may be stale: this is enough for facts that never change. Reads the stream if it is not cached.
   * @throws UnavailableError
   */
  loadCached<State, Events>(entity: Entity<State, Events>, id: string): Promise<StreamState<State>> {
    return this.#loader.loadCached(entity, id);
  }

  /** Updates the cached states with events of this process or another. */
  observe(events: ReadonlyArray<RecordedEvent>): void {
    this.#loader.observe(events);
  }

  /** Reads the stream from the log, not from the cache. @throws UnavailableError */
  loadAt<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<StreamState<State>> {
    return this.#loader.loadAt(entity, id, revision);
  }

  /** @throws UnavailableError */
  eventAt<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<RecordedEvent> {
    return this.#loader.eventAt(entity, id, revision);
  }

  /**
   * Writes in a turn on the stream, and again after each conflict until the deadline. A pipelined turn ends when its
   * append is accepted, so another decision has another turn.
   * @returns the appended events, or the failure of the decision or the append
   * @throws UnavailableError
   */
  async write<State, Events, Refusal = Failure>(
    write: StreamWrite<State, Events, Refusal>,
  ): Promise<E.Either<Refusal | Failure, StreamWriteResult<State>>> {
    const turn = await this.beginTurn(write.entity, write.id, write.mode);
    try {
      for (let { known = null } = write; ; known = null) {
        const written = await writeOnce(turn, write, known);
        if (written !== 'conflict' && written !== 'stale') return written;
        // After a stale state a turn alone has the newest one.
        const isAgain = written === 'stale' && !turn.isPipelined;
        const tooLate = isAgain ? null : await turn.pauseAfterConflict();
        if (tooLate !== null) return E.left(tooLate);
        await turn.begin();
      }
    } finally {
      turn.end();
    }
  }

  /**
   * The caller must end it.
   * @throws UnavailableError if too many wait for the stream, or if the turn does not come before the deadline
   */
  async beginTurn<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    mode: WriteMode = 'alone',
    deadline = clock.now() + this.#deadlineMs,
  ): Promise<StreamTurn<State, Events>> {
    const turn = new StreamTurn(this.#parts, entity, id, mode, deadline);
    await turn.begin();
    return turn;
  }

  /** Makes the events without appending them. They are in recorded form. @param maxBytes of one append, as stored */
  async planWrite<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    before: StreamState<State>,
    next: NextEvents<Events>,
    maxBytes: number,
  ): Promise<E.Either<Failure, StreamWriteResult<State>>> {
    const { sealed, recorded } = await sealAfter(streamName(entity, id), before, next, this.#now());
    const bytes = storedBytes(sealed);
    if (bytes > maxBytes) return E.left(appendTooLarge(bytes, maxBytes));
    return E.right({ stream: foldStream(entity, before, recorded), events: recorded });
  }
}

/** @returns why the command must be decided again, or the result */
async function writeOnce<State, Events, Refusal>(
  turn: StreamTurn<State, Events>,
  { decide, origin, idempotency }: StreamWrite<State, Events, Refusal>,
  known: StreamState<State> | null,
): Promise<E.Either<Refusal | Failure, StreamWriteResult<State>> | 'conflict' | 'stale'> {
  const before = known ?? (await turn.load());
  const decision = await decide(before, turn.deadline);
  if (E.isLeft(decision) || decision.right.events.length === 0) {
    if (turn.isPipelined) turn.end();
    if (!(await turn.isCurrent(before))) return 'stale';
    return E.isLeft(decision) ? decision : E.right({ stream: before, events: [] });
  }
  const remembered = idempotency === undefined ? {} : { idempotency };
  const { outcome } = await turn.append(before, { ...decision.right, origin, ...remembered });
  if (turn.isPipelined) turn.end();
  const appended = await outcome;
  switch (appended.kind) {
    case 'stored':
      return E.right({ stream: appended.stream, events: appended.events });
    case 'refused':
      return E.left(appended.failure);
    case 'conflict':
      return 'conflict';
  }
}
