import type { Tenant } from '#domain/shared/access.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import type { Actor, EventMetadata } from '#domain/shared/event.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import type { EventToAppend, RecordedEvent } from '#event-store/event-store.ts';
import { seal } from '#event-store/hash-chain.ts';
import { newestVersion } from '#event-store/recorded-event.ts';
import { heavyWork, largeBodyBytes } from '#shared/async/event-loop-budget.ts';
import { chance } from '#shared/chance.ts';
import type { StreamState } from './stream-state.ts';

/** The origin of a write, for the metadata of every event. */
export interface Origin {
  readonly actor: Actor;
  readonly requestId: string;
  readonly correlationId: string;
  readonly causationId: string;
}

/** The metadata that all events of an append have. */
export type MetadataToSeal = Omit<EventMetadata, 'hash' | 'prevHash' | 'schemaVersion'>;

/** Events in the form for the append, and in recorded form with position 0, which is still unknown. */
export interface SealedEvents {
  readonly sealed: EventToAppend[];
  readonly recorded: RecordedEvent[];
}

/**
 * Makes the metadata of events that follow a state.
 * @param newTenant their tenant; null for the stream's
 * @param now the present time; no event gets a time before that of its predecessor
 * @throws Error for a new stream without a tenant
 */
export function metadataAfter(
  stream: string,
  before: StreamState<unknown>,
  newTenant: Tenant | null,
  origin: Origin,
  now: Date,
): MetadataToSeal {
  const tenant = newTenant ?? before.tenant;
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
  };
}

/**
 * Adds events to a stream's hash chain. A large event is serialized in one turn of the event loop, and hashed in
 * another.
 * @param before the stream's state without them
 */
export async function sealAll<Events>(
  stream: string,
  before: StreamState<unknown>,
  events: ReadonlyArray<EventOf<Events>>,
  metadata: MetadataToSeal,
): Promise<SealedEvents> {
  const sealed: EventToAppend[] = [];
  const recorded: RecordedEvent[] = [];
  let prevHash = before.hash;
  let revision = before.revision;
  for (const { type, data } of events) {
    revision += 1;
    const id = chance.randomUuid();
    const versioned = { ...metadata, schemaVersion: newestVersion(upcasters, type) };
    const text = JSON.stringify(data);
    if (text.length > largeBodyBytes) await heavyWork.take(1);
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
