import { isDeepStrictEqual } from 'node:util';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { patch } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { WebhookEndpointRecord, WebhookEndpointStatus } from '#domain/webhook-endpoint/record.ts';
import { checkMayChange, knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { distinct, endpointMembers, urlRefusal } from './shared/endpoint-input.ts';

export const updateWebhookEndpoint = command({
  about: {
    name: 'update_webhook_endpoint',
    summary: 'Change, enable or disable a webhook endpoint',
    description:
      'Absent members do not change. An endpoint that is enabled again continues where it stopped and receives the events that it missed.',
    group: 'Webhooks',
    example: { input: { status: 'enabled' }, output: WebhookEndpointRecord.example },
  },
  http: patch('/v1/webhook-endpoints/:webhookEndpointId'),
  access: {
    scope: 'webhooks:write',
    alsoScope: 'audit:read',
    subject: { entity: webhookEndpoint, parameter: 'webhookEndpointId' },
  },
  input: t.intersection([
    t.type({ webhookEndpointId: cuid }),
    t.partial({ ...endpointMembers, status: WebhookEndpointStatus }),
  ]),
  output: WebhookEndpointRecord,
  failures: ['webhook-endpoint-not-found'],
  entity: webhookEndpoint,
  loadRelated: async ({ url }, { lookup }, _, state) =>
    url === undefined || url === state?.record.url ? null : lookup.webhookUrlFault(url),
  decide: ({ webhookEndpointId: id, status, ...given }, state, { caller, related: urlFault }) => {
    const { record } = knownWebhookEndpoint(state);
    const refusal = checkMayChange(caller, record) ?? urlRefusal(urlFault);
    if (refusal !== null) return E.left(refusal);
    const before = { url: record.url, eventTypes: record.eventTypes, description: record.description };
    const { url = before.url, eventTypes = before.eventTypes, description = before.description } = given;
    const after = { url, eventTypes: distinct(eventTypes), description };
    return E.right([
      ...(isDeepStrictEqual(before, after) ? [] : [newEvent('WebhookEndpointChanged', { id, ...after })]),
      ...(status === undefined || status === record.status ? [] : [statusEvent(id, status)]),
    ]);
  },
  answer: ({ state }) => knownWebhookEndpoint(state).record,
});

function statusEvent(id: string, status: 'enabled' | 'disabled') {
  return status === 'enabled'
    ? newEvent('WebhookEndpointEnabled', { id })
    : newEvent('WebhookEndpointDisabled', { id, reason: 'requested' as const });
}
