import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { WebhookEndpointRecord } from '#domain/webhook-endpoint/record.ts';
import { checkMayChange, knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { integer } from '#shared/codecs/number.ts';

export const replayWebhookEndpoint = command({
  about: {
    name: 'replay_webhook_endpoint',
    summary: 'Deliver the events after a position again',
    description:
      'The endpoint goes back to the position `after` (0: the beginning of the log) and receives all later events of its types, also those from before it was created. A position that it has not reached yet changes nothing, so no event is skipped. A message that was sent before has the same `webhook-id`.',
    group: 'Webhooks',
    example: { input: { after: 4_700 }, output: WebhookEndpointRecord.example },
  },
  http: post('/v1/webhook-endpoints/:webhookEndpointId/replay'),
  access: {
    scope: 'webhooks:write',
    alsoScope: 'audit:read',
    subject: { entity: webhookEndpoint, parameter: 'webhookEndpointId' },
  },
  input: t.type({ webhookEndpointId: cuid, after: integer(0, Number.MAX_SAFE_INTEGER) }),
  output: WebhookEndpointRecord,
  failures: ['webhook-endpoint-not-found'],
  entity: webhookEndpoint,
  decide: ({ webhookEndpointId: id, after }, state, { caller }) => {
    const refusal = checkMayChange(caller, knownWebhookEndpoint(state).record);
    return refusal === null ? E.right([newEvent('WebhookReplayRequested', { id, after })]) : E.left(refusal);
  },
  answer: ({ state }) => knownWebhookEndpoint(state).record,
});
