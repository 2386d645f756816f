import { requestAnswered } from '#application/commands/stream-state.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';

/** A stream folded up to one of its events, for histories. It lacks the data that appending needs. */
export interface FoldedStream<State> {
  readonly state: State;
  /** Of the last event; `noStream` before the first. */
  readonly revision: number;
  /** The revision of the last event that is not `RequestAnswered`: the ETag. */
  readonly resourceRevision: number;
  /** Of the last event; empty before the first. */
  readonly time: string;
  /** The estimated bytes that it takes in addition to another state of the stream. */
  readonly weight: number;
}

/** Returns a stream before its first event. */
export function unbegunStream<State, Events>({ initial }: Entity<State, Events>): FoldedStream<State> {
  return { state: initial, revision: noStream, resourceRevision: noStream, time: '', weight: 0 };
}

/** Returns a stream after its next event. */
export function foldEvent<State, Events>(
  entity: Entity<State, Events>,
  before: FoldedStream<State>,
  event: RecordedEvent,
): FoldedStream<State> {
  const { revision, metadata } = event;
  const { time } = metadata;
  if (event.type === requestAnswered) return { ...before, revision, time };
  // The entity's own decisions wrote these events, and the upcasters bring them to the newest shape.
  const state = entity.evolve(before.state, event as never);
  return { state, revision, resourceRevision: revision, time, weight: 0 };
}
