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
  const causes = new Set(events.map(({ id }) => id));
  const seen = new Set<string>();
  return events.flatMap((event) =>
    keysOf(event, causes).flatMap((key) => {
      if (seen.has(key)) return [`${key} happened twice`];
      seen.add(key);
      return [];
    }),
  );
}

/** @param causes the events. A client may ask for the same thing twice */
function keysOf(event: RecordedEvent, causes: ReadonlySet<string>): ReadonlyArray<string> {
  const { id, type, stream, data, metadata } = event;
  if (once.has(type)) return [id, `${type} of ${data.id} in ${stream}`];
  const isCounted = oncePerCause.has(type) && causes.has(metadata.$causationId);
  return isCounted ? [id, `${type} of ${data.id} in ${stream} because of ${metadata.$causationId}`] : [id];
}
