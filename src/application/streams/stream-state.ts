import type { Tenant } from '#domain/shared/access.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';
import { RememberedRequests } from './idempotency.ts';

/** Remembers a success without an event for its `Idempotency-Key`. It changes nothing, and histories do not list it. */
export const requestAnswered = 'RequestAnswered';

/** A folded stream: an entity's state and the data for the next append. */
export interface StreamState<State> {
  readonly state: State;
  /** The revision of the last event; `noStream` without one. */
  readonly revision: number;
  /** The revision of the last event that is not `RequestAnswered`: the ETag. */
  readonly resourceRevision: number;
  /** The tenant of the first event; null without one. */
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

/** Folds further events of the stream into a new state. The old state does not change. */
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
    // The entity's own decisions wrote these events, and the upcasters bring them to the newest shape.
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
