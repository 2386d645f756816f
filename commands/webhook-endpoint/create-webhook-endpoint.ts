import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { makerOf } from '#domain/api-key/maker.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';
import type { Caller, Tenant } from '#domain/shared/tenancy.ts';
import { WebhookEndpointWithSecret } from '#domain/webhook-endpoint/record.ts';
import { knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { distinct, endpointMembers, urlRefusal } from './shared/endpoint-input.ts';

const { description, ...required } = endpointMembers;

export const createWebhookEndpoint = command({
  name: 'create_webhook_endpoint',
  summary: 'Make a webhook endpoint',
  description:
    "What happens from now on is sent to it, signed as Standard Webhooks says. The answer holds the secret: it is shown this once. The endpoint of a project key, or of an operator's, receives what happens in the key's project; that of an organization key what happens in its organization; that of a partner key also what happens at its customers. Without `eventTypes` in the list (`[]`) it receives all types.",
  group: 'Webhooks',
  http: post('/v1/webhook-endpoints', 201),
  scope: 'webhooks:write',
  alsoScope: 'audit:read',
  input: t.intersection([t.type(required), t.partial({ description })]),
  output: WebhookEndpointWithSecret,
  failures: [],
  example: {
    input: {
      url: examples.webhookEndpoint.url,
      eventTypes: examples.webhookEndpoint.eventTypes,
      description: examples.webhookEndpoint.description,
    },
    output: { ...examples.webhookEndpoint, secret: 'whsec_…' },
  },
  entity: webhookEndpoint,
  subject: null,
  seals: true,
  newId: (_, newIds) => newIds.id,
  isIdUsed: (state) => state !== null,
  loadRelated: async ({ url }, { lookup, seal, newSecrets }) => {
    const fault = await lookup.webhookUrlFault(url);
    // What is refused leaves no key behind.
    return fault === null
      ? { fault, sealed: await seal({ secret: newSecrets.webhookSecret }) }
      : { fault, sealed: null };
  },
  tenant: (_, { caller }) => ownerOf(caller),
  decide: ({ url, eventTypes, description = null }, _, { caller, related: { fault, sealed }, newIds: { id } }) => {
    const refusal = urlRefusal(fault);
    if (refusal !== null || sealed === null) return E.left(refusal ?? missingSecret());
    const { organizationId, projectId } = ownerOf(caller);
    return E.right([
      newEvent('WebhookEndpointCreated', {
        id,
        organizationId,
        projectId,
        audience: audienceOfKey(caller),
        url,
        eventTypes: distinct(eventTypes),
        description,
        secret: sealed.secret,
        createdByKeyId: makerOf(caller),
      }),
    ]);
  },
  answer: ({ state, newSecrets }) => ({
    ...knownWebhookEndpoint(state).record,
    ...(newSecrets === null ? {} : { secret: newSecrets.webhookSecret }),
  }),
});

function missingSecret(): never {
  throw new Error('a URL without a fault comes with a sealed secret');
}

/** An operator's key has access to everything: its endpoints are of its own project. */
function audienceOfKey({ keyType }: Caller): 'partner' | 'organization' | 'project' {
  return keyType === 'admin' ? 'project' : keyType;
}

function ownerOf(caller: Caller): Tenant {
  const { organizationId, projectId, partnerId } = caller;
  return { organizationId, projectId: audienceOfKey(caller) === 'project' ? projectId : null, partnerId };
}
