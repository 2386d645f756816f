import { historyOfType } from '#domain/histories.ts';
import { isShownTo } from '#domain/history/audience.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import { audienceOf, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { WorldHistory } from '../history.ts';
import type { Outside } from '../outside.ts';
import type { WorldLog } from './world-log.ts';

/** Finds messages that were never tried, and messages that came again without a reason. */
export function findWebhookFaults(log: WorldLog, { received }: Outside, history: WorldHistory): ReadonlyArray<string> {
  const problems: string[] = [];
  for (const created of log.of('WebhookEndpointCreated')) {
    const state = log.state(webhookEndpoint, String(created.data.id));
    if (state === null) continue;
    const from = Math.max(created.position, history.lateDeliveries.get(String(created.data.id)) ?? 0);
    const isEnabled = !state.deleted && state.record.disabledReason === null;
    for (const event of log.events) {
      if (event.position <= created.position) continue;
      const listed = historyOfType(event.type);
      if (listed === null) continue;
      const { kind } = listed.resource(event.data, streamKeyOf(event.stream));
      if (!isShownTo(audienceOf(state.record), event.metadata, kind)) continue;
      const tries = received.filter(({ id, url }) => id === event.id && url === state.record.url);
      if (isEnabled && event.position > from && tries.length === 0)
        problems.push(`the event ${event.position} was not sent to ${state.record.url}`);
      // A term makes a try again whose end was not stored. An error that no port names ends the deliveries of a term.
      // A frozen node's try arrives late, so the order of arrival is not the order of the tries.
      const known = tries.filter(({ isAccepted, isAnswerKnown }) => isAccepted && isAnswerKnown);
      const times = known.map(({ at }) => at);
      const [first, last] = [Math.min(...times), Math.max(...times)];
      const reasons = history.termsOf('webhooks', first, last) + history.strangeErrors(first, last);
      if (known.length > 1 + reasons) problems.push(`the event ${event.position} came ${known.length} times`);
    }
  }
  const ids = new Set(log.events.map(({ id }) => id));
  for (const { id } of received) if (!ids.has(id)) problems.push(`a webhook came with the unknown id ${id}`);
  return problems;
}
