import type { Tenant } from '#domain/shared/access.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import type { WebhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import type { WebhookEndpointRecord } from '#domain/webhook-endpoint/record.ts';
import type { SealedSecret } from '#domain/webhook-endpoint/secret.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { DeliveryTry } from './message-delivery.ts';
import type { EndpointQueue } from './queue/endpoint-queue.ts';

export interface EndpointRevision {
  readonly revision: number;
  readonly record: WebhookEndpointRecord;
  readonly secrets: ReadonlyArray<SealedSecret>;
}

export interface DeliveredEndpoint {
  readonly id: string;
  facts: EndpointRevision;
  readonly queue: EndpointQueue<DeliveryTry>;
}

/** The endpoints, with an index by audience. */
export class EndpointRegistry {
  readonly #byId = new Map<string, DeliveredEndpoint>();
  readonly #byAudience = new Map<string, Set<DeliveredEndpoint>>();

  get size(): number {
    return this.#byId.size;
  }

  all(): Iterable<DeliveredEndpoint> {
    return this.#byId.values();
  }

  get(id: string): DeliveredEndpoint | undefined {
    return this.#byId.get(id);
  }

  add(endpoint: DeliveredEndpoint): void {
    const key = audienceKey(endpoint.facts.record);
    this.#byId.set(endpoint.id, endpoint);
    this.#byAudience.set(key, (this.#byAudience.get(key) ?? new Set()).add(endpoint));
  }

  remove(endpoint: DeliveredEndpoint): void {
    const key = audienceKey(endpoint.facts.record);
    this.#byId.delete(endpoint.id);
    const others = this.#byAudience.get(key);
    others?.delete(endpoint);
    if (others?.size === 0) this.#byAudience.delete(key);
  }

  *receiversOf({ organizationId, projectId, partnerId }: Tenant): Generator<DeliveredEndpoint> {
    const keys = [`project ${projectId}`, `organization ${organizationId}`, `partner ${partnerId}`];
    for (const key of keys) yield* this.#byAudience.get(key) ?? [];
  }
}

/** Owners are served in turn: the project or, without one, the organization. */
export function endpointOwner({ projectId, organizationId }: WebhookEndpointRecord): string {
  return projectId ?? organizationId;
}

function audienceKey({ audience, organizationId, projectId }: WebhookEndpointRecord): string {
  return `${audience} ${audience === 'project' ? projectId : organizationId}`;
}

/** The endpoint after the event; null if it is deleted. */
export function viewAfter(
  facts: EndpointRevision | null,
  event: RecordedEventOf<WebhookEndpointEvents>,
): EndpointRevision | null {
  if (facts !== null && event.revision <= facts.revision) return facts;
  const before = facts && { record: facts.record, secrets: facts.secrets, tests: [], replays: 0, deleted: false };
  const after = webhookEndpoint.evolve(before, event);
  if (after === null || after.deleted) return null;
  return { revision: event.revision, record: after.record, secrets: after.secrets };
}

export function takesType({ eventTypes }: WebhookEndpointRecord, type: string): boolean {
  return eventTypes.length === 0 || eventTypes.includes(type);
}
