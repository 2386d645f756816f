import type { Tenant } from '#domain/shared/access.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Actor, EventMetadata } from '#domain/shared/event.ts';
import { upcasters } from '#domain/upcasters.ts';
import { type EventToAppend, noStream, type RecordedEvent } from '#event-store/event-store.ts';
import { seal } from '#event-store/hash-chain.ts';
import { newestVersion } from '#event-store/recorded-event.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { workForAll } from '#shared/async/fair-queue.ts';
import { chance } from '#shared/chance.ts';
import { RememberedRequests } from './idempotency.ts';

/**
 * The type of an event that remembers a success without an event for its `Idempotency-Key`. It changes nothing, and
 * histories do not list it.
 */
export const requestAnswered = 'RequestAnswered';

/** The state of a stream, and the data for the next append. */
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

/** Does not change the old state. */
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

/** What the metadata of every event says about its origin. */
export interface Origin {
  readonly actor: Actor;
  readonly requestId: string;
  readonly correlationId: string;
  readonly causationId: string;
}

/** New events: their data and that of their metadata. */
export interface NextEvents<Events> {
  readonly events: ReadonlyArray<EventOf<Events>>;
  /** The tenant; null for the stream's. */
  readonly tenant: Tenant | null;
  readonly origin: Origin;
  /** The request that is remembered in the stream. */
  readonly idempotency?: { readonly key: string; readonly body: string };
}

/** Events in the form for the append, and in recorded form with position 0, which is still unknown. */
export interface SealedEvents {
  readonly sealed: EventToAppend[];
  readonly recorded: RecordedEvent[];
}

/**
 * Seals events for the append. A large event is serialized in one turn of the event loop, and hashed in another.
 * @param now the present time; no event gets a time before that of its predecessor
 * @throws Error for a new stream without a tenant
 */
export async function sealAfter<Events>(
  stream: string,
  before: StreamState<unknown>,
  next: NextEvents<Events>,
  now: Date,
): Promise<SealedEvents> {
  const metadata = metadataAfter(stream, before, next, now);
  const sealed: EventToAppend[] = [];
  const recorded: RecordedEvent[] = [];
  let prevHash = before.hash;
  let revision = before.revision;
  for (const { type, data } of next.events) {
    revision += 1;
    const id = chance.randomUuid();
    const versioned = { ...metadata, schemaVersion: newestVersion(upcasters, type) };
    const text = JSON.stringify(data);
    if (text.length > largeBodyBytes) await turn(workForAll(), 'log', text.length);
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

function metadataAfter(
  stream: string,
  before: StreamState<unknown>,
  next: Omit<NextEvents<unknown>, 'events'>,
  now: Date,
): Omit<EventMetadata, 'hash' | 'prevHash' | 'schemaVersion'> {
  const { origin, idempotency } = next;
  const tenant = next.tenant ?? before.tenant;
  if (tenant === null) throw new Error(`the first event of ${stream} has no tenant`);
  const time = now.toISOString();
  return {
    $correlationId: origin.correlationId,
    $causationId: origin.causationId,
    actor: origin.actor,
    organizationId: tenant.organizationId,
    projectId: tenant.projectId,
    partnerId: tenant.partnerId,
    requestId: origin.requestId,
    time: time > before.time ? time : before.time,
    ...(idempotency === undefined ? {} : { idempotency }),
  };
}
