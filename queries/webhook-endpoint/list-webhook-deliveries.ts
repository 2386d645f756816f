import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { encodeCursor, maxPageItems, pageAnswer, pageInput } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import { checkMayChange } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { type WebhookEndpointDocument, webhookEndpoints } from '#projections/webhook-endpoints.ts';
import { type ListOf, listOf } from '#queries/shared/list-of.ts';
import { encodeJson } from '#shared/json/json.ts';

const Input = t.intersection([t.type({ webhookEndpointId: cuid }), t.partial(pageInput)]);

const notFound = 'webhook-endpoint-not-found';

export const listWebhookDeliveries = query<
  t.TypeOf<typeof Input>,
  WebhookEndpointDocument,
  ListOf<'deliveries', WebhookDelivery>,
  never,
  'webhooks'
>({
  about: {
    name: 'list_webhook_deliveries',
    summary: 'List the delivery tries of a webhook endpoint, newest first',
    description: 'The tries of the last 30 days. A new try appears within about a second. Bodies are not stored.',
    group: 'Webhooks',
    example: { output: { deliveries: [WebhookDelivery.example] } },
  },
  http: get('/v1/webhook-endpoints/:webhookEndpointId/deliveries'),
  access: {
    scope: 'webhooks:read',
    subject: { collection: webhookEndpoints, parameter: 'webhookEndpointId', notFound },
  },
  input: Input,
  output: listOf('deliveries', WebhookDelivery),
  failures: [notFound],
  reads: {},
  services: ['webhooks'],
  paged: true,
  answer: async (
    { input: { limit = maxPageItems, cursor = null }, subject: { id, record }, request: { caller } },
    { webhooks },
  ) => {
    const refusal = checkMayChange(caller, record.parse());
    if (refusal !== null) return E.left(refusal);
    const { deliveries, next } = await webhooks.deliveriesTo(id, limit, cursor);
    const items = deliveries.map((delivery) => encodeJson(delivery));
    return E.right(pageAnswer('deliveries', items, next === null ? null : encodeCursor(next)));
  },
});
