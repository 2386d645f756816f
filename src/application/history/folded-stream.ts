import { requestAnswered } from '#application/commands/stream-state.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';

/** A stream folded up to one of its events, as a history needs it: without what appending needs. */
export interface FoldedStream<State> {
  readonly state: State;
  /** Of the last event; `noStream` before the first. */
  readonly revision: number;
  /** Of the last event that was more than a remembered request: the ETag. */
  readonly resourceRevision: number;
  /** Of the last event; empty before the first. */
  readonly time: string;
  /** Bytes that keeping it takes, roughly, beside another state of the stream. */
  readonly weight: number;
}

/** A stream before its first event. */
export function unbegunStream<State, Events>({ initial }: Entity<State, Events>): FoldedStream<State> {
  return { state: initial, revision: noStream, resourceRevision: noStream, time: '', weight: 0 };
}

/** A stream after its next event. */
export function foldEvent<State, Events>(
  entity: Entity<State, Events>,
  before: FoldedStream<State>,
  event: RecordedEvent,
): FoldedStream<State> {
  const { revision, metadata } = event;
  const { time } = metadata;
  if (event.type === requestAnswered) return { ...before, revision, time };
  // What a stream holds was written by this entity's own decisions, in shapes that the upcasters keep current.
  const state = entity.evolve(before.state, event as never);
  return { state, revision, resourceRevision: revision, time, weight: 0 };
}
