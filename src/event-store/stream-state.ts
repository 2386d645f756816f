import type { Entity } from '#domain/entity.ts';
import type { Tenant } from '#domain/tenancy.ts';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';

/** A success without an event, remembered for its `Idempotency-Key`; it changes nothing, and history leaves it out. */
export const requestAnswered = 'RequestAnswered';

/** A command that came with an `Idempotency-Key`, as its events tell. */
export interface RememberedRequest {
  readonly bodyHash: string;
  /** The revisions of the first and the last event that it appended. */
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly time: string;
}

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
  readonly remembered: ReadonlyMap<string, RememberedRequest>;
}

/** How long an `Idempotency-Key` is remembered. */
export const rememberedForMilliseconds = 24 * 60 * 60 * 1000;

/** The state of a stream without events. */
export function emptyStream<State, Events>(entity: Entity<State, Events>): StreamState<State> {
  return {
    state: entity.initial,
    revision: noStream,
    resourceRevision: noStream,
    tenant: null,
    hash: null,
    time: '',
    remembered: new Map(),
  };
}

/** Folds further events of the stream into its state. */
export function foldStream<State, Events>(
  entity: Entity<State, Events>,
  from: StreamState<State>,
  events: ReadonlyArray<RecordedEvent>,
): StreamState<State> {
  const last = events.at(-1);
  if (last === undefined) return from;
  let { state, resourceRevision, tenant } = from;
  for (const event of events) {
    tenant ??= tenantOf(event);
    if (event.type === requestAnswered) continue;
    // What a stream holds was written by this entity's own decisions, in shapes that the upcasters keep current.
    state = entity.evolve(state, event as never);
    resourceRevision = event.revision;
  }
  return {
    state,
    revision: last.revision,
    resourceRevision,
    tenant,
    hash: last.metadata.hash,
    time: last.metadata.time,
    remembered: remember(from.remembered, events, last.metadata.time),
  };
}

function tenantOf({ metadata }: RecordedEvent): Tenant {
  return {
    organizationId: metadata.organizationId,
    projectId: metadata.projectId,
    partnerId: metadata.partnerId,
  };
}

function remember(
  before: ReadonlyMap<string, RememberedRequest>,
  events: ReadonlyArray<RecordedEvent>,
  now: string,
): ReadonlyMap<string, RememberedRequest> {
  const oldest = new Date(Date.parse(now) - rememberedForMilliseconds).toISOString();
  // In the order of their times: the first is the oldest.
  const [first] = before.values();
  const nothingDue = first === undefined || first.time >= oldest;
  if (nothingDue && !events.some(({ metadata }) => metadata.idempotency)) return before;
  const remembered = new Map([...before].filter(([, request]) => request.time >= oldest));
  for (const { revision, metadata } of events) {
    if (metadata.idempotency === undefined || metadata.time < oldest) continue;
    const { key, body } = metadata.idempotency;
    const firstRevision = remembered.get(key)?.firstRevision ?? revision;
    remembered.set(key, { bodyHash: body, firstRevision, lastRevision: revision, time: metadata.time });
  }
  return remembered;
}
