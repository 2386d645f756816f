import type { RecordedEvent } from '#event-store/event-store.ts';
import type { WorldLog } from './world-log.ts';

/** Events that happen once to a resource. */
const once: ReadonlySet<string> = new Set([
  'OrganizationCreated',
  'CustomerCreated',
  'PersonalDataErased',
  'ProjectCreated',
  'FlowCreated',
  'FlowDeleted',
  'PhoneNumberCreated',
  'ApiKeyCreated',
  'FileCreated',
  'FileDeleted',
  'BatchCreated',
  'BatchChecked',
  'BatchFinalizing',
  'BatchEnded',
  'InstanceCreated',
  'InstanceDeleted',
  'TemplateCreated',
  'StoreCreated',
  'WebhookEndpointCreated',
  'WebhookEndpointDeleted',
]);

/** Events of which each cause has one for a resource. */
const oncePerCause: ReadonlySet<string> = new Set(['PhoneNumberFlowSet', 'ApiKeyRevoked', 'StoreFileRemoved']);

/** Finds events that were made twice. */
export function findRepetitions({ events }: WorldLog): ReadonlyArray<string> {
  const seen = new Set<string>();
  return events.flatMap((event) =>
    keysOf(event).flatMap((key) => {
      if (seen.has(key)) return [`${key} happened twice`];
      seen.add(key);
      return [];
    }),
  );
}

function keysOf({ id, type, stream, data, metadata }: RecordedEvent): ReadonlyArray<string> {
  if (once.has(type)) return [id, `${type} of ${data.id} in ${stream}`];
  return oncePerCause.has(type) ? [id, `${type} of ${data.id} in ${stream} because of ${metadata.$causationId}`] : [id];
}
