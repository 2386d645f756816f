import { isShownTo } from '#domain/history/audience.ts';
import { historyOfType } from '#domain/history/table.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import { audienceOf, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { Outside } from '../outside.ts';
import type { SharedStores } from '../surroundings.ts';
import type { WorldLog } from './world-log.ts';

/** Finds messages that were never tried, and messages that came again without a reason. */
export function findWebhookFaults(
  log: WorldLog,
  { received }: Outside,
  { leases, faults }: Pick<SharedStores, 'leases'> & { readonly faults: number },
): ReadonlyArray<string> {
  const problems: string[] = [];
  const terms = leases.newest('webhooks')?.token ?? 0;
  for (const created of log.of('WebhookEndpointCreated')) {
    const state = log.state(webhookEndpoint, String(created.data.id));
    if (state === null) continue;
    const isEnabled = !state.deleted && state.record.disabledReason === null;
    for (const event of log.events) {
      if (event.position <= created.position) continue;
      const listed = historyOfType(event.type);
      if (listed === null) continue;
      const { kind } = listed.resource(event.data, streamKeyOf(event.stream));
      if (!isShownTo(audienceOf(state.record), event.metadata, kind)) continue;
      const tries = received.filter(({ id, url }) => id === event.id && url === state.record.url);
      if (isEnabled && tries.length === 0)
        problems.push(`the event ${event.position} was not sent to ${state.record.url}`);
      // A try whose end was not stored may be made again by the next term, or after a fault of the records.
      const known = tries.filter(({ isAccepted, isAnswerKnown }) => isAccepted && isAnswerKnown).length;
      if (known > 1 + terms + faults) problems.push(`the event ${event.position} came ${known} times`);
    }
  }
  const ids = new Set(log.events.map(({ id }) => id));
  for (const { id } of received) if (!ids.has(id)) problems.push(`a webhook came with the unknown id ${id}`);
  return problems;
}
