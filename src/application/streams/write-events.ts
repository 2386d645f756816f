import * as E from 'fp-ts/lib/Either.js';
import type { Tenant } from '#domain/shared/access.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { Origin } from './sealed-events.ts';
import type { StreamState } from './stream-state.ts';
import type { StreamTurn, StreamWriteResult, StreamWriter } from './stream-writer.ts';

/** The result of a decision: events (none if nothing changes), and the tenant of a new stream. */
export interface Decision<Events> {
  readonly events: ReadonlyArray<EventOf<Events>>;
  /** The tenant of these events; null for the stream's. */
  readonly tenant: Tenant | null;
}

/** A write to one stream that is not a request: by a process, or as a part of a command. */
export interface StreamWrite<State, Events> {
  readonly entity: Entity<State, Events>;
  /** An id in the stream. */
  readonly id: string;
  readonly origin: Origin;
  /** See `StreamWriter.beginTurn`. */
  readonly bypassQueue?: boolean;
  /**
   * Decides on the current state; called again after each conflict.
   * @param deadline until when it may wait, on this process's clock
   */
  readonly decide: (
    stream: StreamState<State>,
    deadline: number,
  ) => E.Either<Failure, Decision<Events>> | Promise<E.Either<Failure, Decision<Events>>>;
}

/**
 * Decides and appends in a turn on the stream, and retries conflicts until the deadline.
 * @returns the appended events, or the failure of the decision or the append
 * @throws UnavailableError
 */
export async function writeEvents<State, Events>(
  writer: Pick<StreamWriter, 'beginTurn'>,
  write: StreamWrite<State, Events>,
): Promise<E.Either<Failure, StreamWriteResult<State>>> {
  const turn = await writer.beginTurn(write.entity, write.id, write.bypassQueue === true ? 'bypass' : 'alone');
  try {
    return await writeInTurn(turn, write);
  } finally {
    turn.end();
  }
}

async function writeInTurn<State, Events>(
  turn: StreamTurn<State, Events>,
  { decide, origin }: StreamWrite<State, Events>,
): Promise<E.Either<Failure, StreamWriteResult<State>>> {
  for (;;) {
    const before = await turn.load();
    const decision = await decide(before, turn.deadline);
    if (E.isLeft(decision) || decision.right.events.length === 0) {
      if (!(await turn.isCurrent(before))) continue;
      return E.isLeft(decision) ? decision : E.right({ stream: before, events: [] });
    }
    const { outcome } = await turn.append(before, { ...decision.right, origin });
    const appended = await outcome;
    if (appended.kind === 'stored') return E.right(appended);
    const refusal = appended.kind === 'refused' ? appended.failure : await turn.pauseAfterConflict();
    if (refusal !== null) return E.left(refusal);
  }
}
