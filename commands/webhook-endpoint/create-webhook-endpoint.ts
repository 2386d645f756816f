import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { makerOf } from '#domain/api-key/api-key.ts';
import type { Caller, Tenant } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';
import { WebhookEndpointWithSecret } from '#domain/webhook-endpoint/record.ts';
import { knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { distinct, endpointMembers, urlRefusal } from './shared/endpoint-input.ts';

const { description, ...required } = endpointMembers;

export const createWebhookEndpoint = command({
  about: {
    name: 'create_webhook_endpoint',
    summary: 'Create a webhook endpoint',
    description:
      "The endpoint receives all events from now on, signed according to Standard Webhooks. Only this answer shows the secret. An endpoint of a project key or an operator's key receives the events of the key's project. One of an organization key receives the events of its organization. One of a partner key also receives the events of its customers. With an empty list of `eventTypes` (`[]`), it receives all types.",
    group: 'Webhooks',
    example: {
      input: {
        url: examples.webhookEndpoint.url,
        eventTypes: examples.webhookEndpoint.eventTypes,
        description: examples.webhookEndpoint.description,
      },
      output: { ...examples.webhookEndpoint, secret: 'whsec_…' },
    },
  },
  http: post('/v1/webhook-endpoints', 201),
  access: { scope: 'webhooks:write', alsoScope: 'audit:read', subject: null },
  input: t.intersection([t.type(required), t.partial({ description })]),
  output: WebhookEndpointWithSecret,
  failures: ['too-many-webhook-endpoints'],
  entity: webhookEndpoint,
  loadRelated: async ({ url }, { lookup, seal, newSecrets }) => {
    const fault = await lookup.webhookUrlFault(url);
    return fault === null
      ? { fault, sealed: await seal({ secret: newSecrets.webhookSecret }) }
      : { fault, sealed: null };
  },
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    tenant: (_, { caller }) => ownerOf(caller),
  },
  endpointPlace: 'taken',
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

/** An operator's key has access to everything, but its endpoints belong to its own project. */
function audienceOfKey({ keyType }: Caller): 'partner' | 'organization' | 'project' {
  return keyType === 'admin' ? 'project' : keyType;
}

function ownerOf(caller: Caller): Tenant {
  const { organizationId, projectId, partnerId } = caller;
  return { organizationId, projectId: audienceOfKey(caller) === 'project' ? projectId : null, partnerId };
}
