import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { type WebhookEndpointEvents, webhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import type { WebhookEndpointRecord } from '#domain/webhook-endpoint/record.ts';
import type { SealedSecret } from '#domain/webhook-endpoint/secret.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { projection } from '#projection-engine/projection.ts';
import { type TenantDocument, tenantIndexes, tenantOf } from './document.ts';

export interface WebhookEndpointDocument extends TenantDocument<WebhookEndpointRecord> {
  /** The newest first. */
  readonly secrets: ReadonlyArray<SealedSecret>;
  readonly createdByKeyId: string | null;
  /** The position of the event that created it. Earlier events are not delivered. */
  readonly createdAtPosition: number;
}

export const webhookEndpoints = projection<WebhookEndpointDocument, WebhookEndpointEvents>({
  name: 'webhook-endpoints',
  version: 2,
  keys: ({ data }) => [data.id],
  on: Object.fromEntries(Object.keys(webhookEndpointEvents).map((type) => [type, folded])) as Record<
    keyof WebhookEndpointEvents,
    typeof folded
  >,
  indexes: [...tenantIndexes(['organizationId', 'partnerId', 'projectId'], ['status']), ['createdByKeyId']],
});

/** Applies the event as the state of decisions does, because both are the same. */
function folded(document: WebhookEndpointDocument | null, event: RecordedEvent): WebhookEndpointDocument | null {
  const before = document && {
    record: document.record,
    secrets: document.secrets,
    tests: [],
    replays: 0,
    deleted: false,
  };
  const after = webhookEndpoint.evolve(before, event as unknown as RecordedEventOf<WebhookEndpointEvents>);
  if (after === null || after.deleted) return null;
  const { record, secrets } = after;
  return {
    ...tenantOf(event.metadata),
    revision: event.revision,
    record,
    secrets,
    createdByKeyId: record.createdByKeyId,
    createdAtPosition: document?.createdAtPosition ?? event.position,
  };
}
