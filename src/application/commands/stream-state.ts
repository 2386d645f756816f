import type { Entity } from '#domain/shared/entity.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';
import { RememberedRequests } from './remembered-requests.ts';

/** A success without an event, remembered for its `Idempotency-Key`; it changes nothing, and history leaves it out. */
export const requestAnswered = 'RequestAnswered';

/** A stream folded: an entity's state, and what appending to it needs. */
export interface StreamState<State> {
  readonly state: State;
  /** Of the last event; `noStream` when there is none. */
  readonly revision: number;
  /** Of the last event that was more than a remembered request: the ETag. */
  readonly resourceRevision: number;
  /** Of the first event; null when there is none. */
  readonly tenant: Tenant | null;
  readonly hash: string | null;
  readonly time: string;
  readonly remembered: RememberedRequests;
}

/** The state of a stream without events. */
export function emptyStream<State, Events>(entity: Entity<State, Events>): StreamState<State> {
  return {
    state: entity.initial,
    revision: noStream,
    resourceRevision: noStream,
    tenant: null,
    hash: null,
    time: '',
    remembered: RememberedRequests.none,
  };
}

/** Folds further events of the stream into its state. The state before is a value of its own, and stays as it is. */
export function foldStream<State, Events>(
  entity: Entity<State, Events>,
  from: StreamState<State>,
  events: ReadonlyArray<RecordedEvent>,
): StreamState<State> {
  const last = events.at(-1);
  if (last === undefined) return from;
  let { state, resourceRevision, tenant, remembered } = from;
  for (const event of events) {
    tenant ??= tenantOf(event);
    remembered = remembered.after(event);
    if (event.type === requestAnswered) continue;
    // What a stream holds was written by this entity's own decisions, in shapes that the upcasters keep current.
    state = entity.evolve(state, event as never);
    resourceRevision = event.revision;
  }
  const { hash, time } = last.metadata;
  return { state, revision: last.revision, resourceRevision, tenant, hash, time, remembered };
}

function tenantOf({ metadata }: RecordedEvent): Tenant {
  return {
    organizationId: metadata.organizationId,
    projectId: metadata.projectId,
    partnerId: metadata.partnerId,
  };
}
