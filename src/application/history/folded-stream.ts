import { LRUCache } from 'lru-cache';
import { requestAnswered } from '#application/streams/stream-state.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';

/** The state of a stream up to one of its events, for histories. It lacks the data that appending needs. */
export interface FoldedStream<State> {
  readonly state: State;
  /** The revision of the last event; `noStream` before the first. */
  readonly revision: number;
  /** The revision of the last event that is not `RequestAnswered`: the ETag. */
  readonly resourceRevision: number;
  /** The time of the last event; empty before the first. */
  readonly time: string;
  /** The estimated size, in addition to another state of the stream. */
  readonly bytes: number;
}

/** The state of a stream before its first event. */
export function unbegunStream<State, Events>({ initial }: Entity<State, Events>): FoldedStream<State> {
  return { state: initial, revision: noStream, resourceRevision: noStream, time: '', bytes: 0 };
}

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
  return { state, revision, resourceRevision: revision, time, bytes: 0 };
}

/** States of one stream, each after one of its events, in order. */
type States = ReadonlyArray<FoldedStream<unknown>>;

/**
 * Keeps states in memory, so that a state in the middle of a long stream is folded from one near it. States of one
 * stream share what did not change between them. Its size is limited: the least recently used streams are removed.
 */
export class KeptStates {
  readonly #streams: LRUCache<string, States>;

  /** @param maxBytes of all states together, estimated */
  constructor(maxBytes: number) {
    this.#streams = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (states) => states.reduce((sum, { bytes }) => sum + bytes, bytesOfStream),
    });
  }

  /** Keeps the state unless one is kept at this revision. */
  keep(stream: string, state: FoldedStream<unknown>): void {
    const states = this.#streams.get(stream) ?? [];
    const at = indexAfter(states, ({ revision }) => revision <= state.revision);
    if (states[at - 1]?.revision === state.revision) return;
    this.#streams.set(stream, [...states.slice(0, at), state, ...states.slice(at)]);
  }

  /** The last kept state up to the revision. */
  upTo<State>(stream: string, revision: number): FoldedStream<State> | null {
    const states = this.#streams.get(stream) ?? [];
    return (states[indexAfter(states, (state) => state.revision <= revision) - 1] ??
      null) as FoldedStream<State> | null;
  }

  /**
   * Two revisions around the time: the last event up to the time is between `from` and before `until`. `until` is null
   * if no later state is kept.
   */
  around(stream: string, time: string): { readonly from: number; readonly until: number | null } {
    const states = this.#streams.get(stream) ?? [];
    const at = indexAfter(states, (state) => state.time <= time);
    return { from: states[at - 1]?.revision ?? -1, until: states[at]?.revision ?? null };
  }
}

const bytesOfStream = 256;

/** The index after the last state that meets the condition. All earlier states must meet it too. */
function indexAfter(states: States, holds: (state: FoldedStream<unknown>) => boolean): number {
  let low = 0;
  let high = states.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const state = states[middle];
    if (state !== undefined && holds(state)) low = middle + 1;
    else high = middle;
  }
  return low;
}
