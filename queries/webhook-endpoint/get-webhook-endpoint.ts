import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { answerAsOf, asOfInput, type PastReadName, pastReadNames } from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { webhookEndpointHistory } from '#domain/webhook-endpoint/history.ts';
import { WebhookEndpointRecord, WebhookEndpointWithDelivery } from '#domain/webhook-endpoint/record.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { type WebhookEndpointDocument, webhookEndpoints } from '#projections/webhook-endpoints.ts';

const Input = t.intersection([t.type({ webhookEndpointId: cuid }), t.partial(asOfInput)]);

const notFound = 'webhook-endpoint-not-found';
const past = {
  history: webhookEndpointHistory,
  entity: webhookEndpoint,
  kind: 'webhook-endpoint',
  notFound,
} as const;

export const getWebhookEndpoint = query<
  t.TypeOf<typeof Input>,
  WebhookEndpointDocument,
  WebhookEndpointWithDelivery,
  never,
  PastReadName | 'webhooks'
>({
  about: {
    name: 'get_webhook_endpoint',
    summary: 'Read a webhook endpoint',
    description:
      'Without its secret. `delivery` shows the progress of the delivery. It is absent with `asOf`, and null before delivery has begun.',
    group: 'Webhooks',
    example: {
      output: {
        ...WebhookEndpointRecord.example,
        delivery: { position: 4_711, openMessages: 0, failingSince: null, beganAtEndAt: null },
      },
    },
  },
  http: get('/v1/webhook-endpoints/:webhookEndpointId'),
  access: {
    scope: 'webhooks:read',
    subject: { collection: webhookEndpoints, parameter: 'webhookEndpointId', notFound, past: webhookEndpoint },
  },
  input: Input,
  output: WebhookEndpointWithDelivery,
  failures: [notFound],
  reads: {},
  services: [...pastReadNames, 'webhooks'],
  hasRevision: true,
  changesWithinRevision: true,
  answer: answerAsOf(past, async ({ subject: { id, record, head } }, { webhooks }) =>
    E.right({ body: { ...record.parse(), delivery: await webhooks.deliveryOf(id) }, revision: head.revision }),
  ),
});
