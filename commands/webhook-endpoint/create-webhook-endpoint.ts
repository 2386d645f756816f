import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { makerOf } from '#domain/api-key/api-key.ts';
import { cuid } from '#domain/codecs/id.ts';
import { project } from '#domain/project/project.ts';
import { type Caller, canAccess, notFound, type Tenant } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { WebhookEndpointRecord, WebhookEndpointWithSecret } from '#domain/webhook-endpoint/record.ts';
import { knownWebhookEndpoint, webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { distinct, endpointMembers, urlRefusal } from './shared/endpoint-input.ts';

const { description, ...required } = endpointMembers;

export const createWebhookEndpoint = command({
  about: {
    name: 'create_webhook_endpoint',
    summary: 'Create a webhook endpoint',
    description:
      "The endpoint receives all events from now on, signed according to Standard Webhooks. Only this answer shows the secret. An endpoint of a project key or an operator's key receives the events of the key's project. One of an organization key receives the events of its organization. One of a partner key also receives the events of its customers. With a `projectId` to which the key has access, the endpoint belongs to that project and receives its events alone. With an empty list of `eventTypes` (`[]`), it receives all types.",
    group: 'Webhooks',
    example: {
      input: {
        url: WebhookEndpointRecord.example.url,
        eventTypes: WebhookEndpointRecord.example.eventTypes,
        description: WebhookEndpointRecord.example.description,
      },
      output: { ...WebhookEndpointRecord.example, secret: 'whsec_…' },
    },
  },
  http: post('/v1/webhook-endpoints', 201),
  access: { scope: 'webhooks:write', alsoScope: 'audit:read', subject: null },
  input: t.intersection([t.type(required), t.partial({ description, projectId: cuid })]),
  output: WebhookEndpointWithSecret,
  failures: ['project-not-found', 'too-many-webhook-endpoints'],
  entity: webhookEndpoint,
  loadRelated: async ({ url, projectId }, { load, lookup, seal, newSecrets }) => {
    const wanted = projectId === undefined ? null : await load(project, projectId);
    const fault = await lookup.webhookUrlFault(url);
    return fault === null
      ? { wanted, fault, sealed: await seal({ secret: newSecrets.webhookSecret }) }
      : { wanted, fault, sealed: null };
  },
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    tenant: (_, { caller, related }) => related.wanted?.tenant ?? ownerOf(caller),
  },
  endpointPlace: 'taken',
  decide: (input, _, { caller, related: { wanted, fault, sealed }, newIds: { id } }) => {
    const { url, eventTypes, description = null, projectId: wantedId } = input;
    const owner = wanted === null ? ownerOf(caller) : wanted.tenant;
    if (wantedId !== undefined && (owner === null || !canAccess(caller, owner)))
      return E.left(notFound('project-not-found', wantedId));
    const refusal = urlRefusal(fault);
    if (refusal !== null || sealed === null || owner === null) return E.left(refusal ?? missingSecret());
    const { organizationId, projectId } = owner;
    return E.right([
      newEvent('WebhookEndpointCreated', {
        id,
        organizationId,
        projectId,
        audience: wantedId === undefined ? audienceOfKey(caller) : 'project',
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
