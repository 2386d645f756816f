import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { createOrganization } from '#commands/organization/create-organization.ts';
import { createProject } from '#commands/project/create-project.ts';
import { createWebhookEndpoint } from '#commands/webhook-endpoint/create-webhook-endpoint.ts';
import { deleteWebhookEndpoint } from '#commands/webhook-endpoint/delete-webhook-endpoint.ts';
import type { KeyType } from '#domain/shared/access.ts';
import { inputErrors } from '#exchange/input-errors.ts';
import { callerOf, ids, newIds, tenants } from '#test/support/events/tenants.ts';
import { firstSealed, webhookEndpointCreated } from '#test/support/events/webhook-events.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';

const input = { url: 'https://example.com/hooks', eventTypes: [] };
const related = { wanted: null, fault: null, sealed: { secret: firstSealed } };
const made = { id: newIds.id, createdByKeyId: null };

describe('create_webhook_endpoint', () => {
  const owners: ReadonlyArray<readonly [KeyType, Parameters<typeof webhookEndpointCreated>[0]]> = [
    ['admin', { audience: 'project', projectId: ids.project }],
    ['partner', { audience: 'partner', projectId: null }],
    ['organization', { audience: 'organization', projectId: null }],
    ['project', { audience: 'project', projectId: ids.project }],
  ];
  for (const [keyType, owner] of owners) {
    it(`makes the endpoint of a key of type ${keyType} for ${owner?.audience === 'project' ? 'its project' : 'its organization'}`, () => {
      const caller = callerOf(keyType, { keyId: ids.key });
      givenHistory()
        .when(createWebhookEndpoint, input, { caller, related })
        .then(webhookEndpointCreated({ id: newIds.id, ...owner }));
    });
  }

  it('makes an endpoint for a project that the key reaches, and for no other', async () => {
    const service = new Service();
    const { body: owner } = await service.ok(createOrganization, {}, { body: { name: 'Ours', partner: true } });
    const project = { name: 'Mine', organizationId: String(owner.id) };
    const { body: mine } = await service.ok(createProject, {}, { body: project });
    const body = { ...input, projectId: String(mine.id) };
    const { body: endpoint } = await service.ok(createWebhookEndpoint, {}, { body });
    assert.deepEqual([endpoint.projectId, endpoint.audience], [mine.id, 'project']);
    const stranger = { caller: callerOf('project'), body };
    assert.equal(await service.refusal(createWebhookEndpoint, {}, stranger), 'project-not-found');
    const unknown = { body: { ...input, projectId: ids.flow } };
    assert.equal(await service.refusal(createWebhookEndpoint, {}, unknown), 'project-not-found');
  });

  it('suggests the type of event that a name resembles', async () => {
    const decoded = createWebhookEndpoint.input.decode({ ...input, eventTypes: ['FlowVersionActivate'] });
    assert.ok(E.isLeft(decoded));
    assert.match(inputErrors(decoded.left)[0]?.message ?? '', /\/docs\/events lists, perhaps FlowVersionActivated$/);
  });

  it('records each requested event type once, in the order of the request', () => {
    const eventTypes = ['FlowRenamed', 'FlowCreated', 'FlowRenamed'];
    givenHistory()
      .when(
        createWebhookEndpoint,
        { ...input, eventTypes, description: 'Ours' },
        { related, caller: callerOf('project', { keyId: 'system' }) },
      )
      .then(webhookEndpointCreated({ ...made, eventTypes: ['FlowRenamed', 'FlowCreated'], description: 'Ours' }));
  });

  it('refuses a URL to which the service must not deliver', () => {
    const fault = 'must be of a host with public addresses alone';
    givenHistory()
      .when(createWebhookEndpoint, input, { related: { wanted: null, fault, sealed: null } })
      .then('invalid-input');
  });

  describe('input of create_webhook_endpoint', () => {
    const of = inputOf(createWebhookEndpoint, { ...input, description: null });
    of.text('url', { min: 1, max: 2048 });
    of.refuses('eventTypes', ['NoSuchEvent']);
    of.refuses('eventTypes', ['RequestAnswered']);
    of.refuses('eventTypes', 'FlowRenamed');
    of.accepts('eventTypes', ['FlowRenamed']);
    of.text('description', { min: 0, max: 1000, orNull: true });
  });

  it('shows a signing secret once, keeps it sealed, and destroys its key with the endpoint', async () => {
    const service = new Service();
    const sent = { body: input, idempotencyKey: 'once' };
    const first = await service.ok(createWebhookEndpoint, {}, sent);
    const again = await service.ok(createWebhookEndpoint, {}, sent);
    assert.match(String(first.body.secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(again.body, Object.fromEntries(Object.entries(first.body).filter(([name]) => name !== 'secret')));
    const stored = JSON.stringify(service.store.log);
    assert.ok(!stored.includes(String(first.body.secret)));
    const id = String(first.body.id);
    assert.equal((await service.subjectKeys.find([id])).size, 1);
    await service.ok(deleteWebhookEndpoint, { webhookEndpointId: id });
    assert.equal((await service.subjectKeys.find([id])).size, 0);
  });

  it('refuses an endpoint beyond the limits, also in a dry run, until another is deleted', async () => {
    const service = new Service(undefined, { endpointLimits: { maxPerProject: 1, maxPerOrganization: 2 } });
    const [project, organization] = [callerOf('project'), callerOf('organization')];
    const first = await service.ok(createWebhookEndpoint, {}, { caller: project, body: input });
    const refused = { caller: project, body: input, idempotencyKey: 'refused' };
    assert.equal(await service.refusal(createWebhookEndpoint, {}, refused), 'too-many-webhook-endpoints');
    await service.ok(createWebhookEndpoint, {}, { caller: organization, body: input });
    for (const dryRun of [true, false]) {
      const sent = { caller: organization, body: input, dryRun };
      assert.equal(await service.refusal(createWebhookEndpoint, {}, sent), 'too-many-webhook-endpoints');
    }
    await service.ok(deleteWebhookEndpoint, { webhookEndpointId: String(first.body.id) }, { caller: project });
    await service.ok(createWebhookEndpoint, {}, { caller: organization, body: input, dryRun: true });
    await service.ok(createWebhookEndpoint, {}, refused);
    assert.equal(await service.refusal(createWebhookEndpoint, {}, { body: input }), 'too-many-webhook-endpoints');
    assert.equal((await service.subjectKeys.find([String(first.body.id)])).size, 0);
    assert.equal(service.store.log.length, 4);
  });

  it('puts an organization’s endpoint under the organization of the key', async () => {
    const service = new Service();
    await service.ok(createWebhookEndpoint, {}, { caller: callerOf('organization'), body: input });
    const { organizationId, projectId, partnerId } = service.store.log[0]?.metadata ?? {};
    assert.deepEqual({ organizationId, projectId, partnerId }, { ...tenants.project, projectId: null });
  });
});
