import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand } from '#application/commands/command.ts';
import { createApiKey } from '#commands/api-key/create-api-key.ts';
import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { createWebhookEndpoint } from '#commands/webhook-endpoint/create-webhook-endpoint.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { project } from '#domain/project/project.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { disableWebhookEndpoints } from '#processes/disable-webhook-endpoints.ts';
import { revokeDescendantKeys } from '#processes/revoke-descendant-keys.ts';
import { apiKeyCreated, projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend, ProcessDriver } from '#test/support/harness/process-harness.ts';

const root = 'ckeyroot00000001';
const caller = (keyId: string) => callerOf('project', { keyId });

async function startService(): Promise<Service> {
  const service = new Service();
  const store = (entity: AnyCommand['entity'], id: string, event: object) =>
    service.writer.write({
      entity,
      id,
      origin: { actor: { keyId: 'system', keyType: 'system' }, requestId: 'r', correlationId: 'r', causationId: 'r' },
      decide: () => E.right({ events: [event as never], tenant: tenants.project }),
    });
  await store(project, ids.project, projectCreated());
  await store(apiKey, root, apiKeyCreated({ id: root, scopes: null }));
  return service;
}

async function make(service: Service, keyId: string): Promise<string> {
  const body = { url: 'https://example.com/hooks', eventTypes: [] };
  return String((await service.ok(createWebhookEndpoint, {}, { caller: caller(keyId), body })).body.id);
}

async function reasons(service: Service, endpoints: ReadonlyArray<string>) {
  const states = endpoints.map(async (id) => (await service.writer.load(webhookEndpoint, id)).state);
  return (await Promise.all(states)).map((state) => state?.record.disabledReason);
}

describe('disableWebhookEndpoints', () => {
  it('disables what the key and its descendants made, and nothing else', async () => {
    const service = await startService();
    const body = { name: 'Key', keyType: 'project' };
    const child = await service.ok(createApiKey, { projectId: ids.project }, { caller: caller(root), body });
    const endpoints = [
      await make(service, root),
      await make(service, String(child.body.id)),
      await make(service, 'ckeyother0000001'),
    ];
    await service.ok(revokeApiKey, { keyId: root }, { body: { descendants: true } });
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    await new ProcessDriver(disableWebhookEndpoints, service).settle();
    assert.deepEqual(await reasons(service, endpoints), ['key-revoked', 'key-revoked', null]);
  });

  it('leaves the endpoints of a key that is revoked alone', async () => {
    const service = await startService();
    const endpoint = await make(service, root);
    await service.ok(revokeApiKey, { keyId: root });
    await new ProcessDriver(disableWebhookEndpoints, service).settle();
    assert.deepEqual(await reasons(service, [endpoint]), [null]);
  });

  it('disables an endpoint that is made while its maker is being revoked', async () => {
    const service = await startService();
    await service.ok(revokeApiKey, { keyId: root }, { body: { descendants: true } });
    const endpoint = await make(service, root);
    await new ProcessDriver(disableWebhookEndpoints, service).settle();
    assert.deepEqual(await reasons(service, [endpoint]), ['key-revoked']);
  });

  it('comes to the same when it is interrupted at any append', async () => {
    const story = async () => {
      const service = await startService();
      await make(service, root);
      await make(service, root);
      await service.ok(revokeApiKey, { keyId: root }, { body: { descendants: true } });
      return service;
    };
    const outcome = async (service: Service) => {
      const { documents } = await service.documents
        .list('webhook-endpoints', {}, { limit: 9, maxBytes: 1e6 })
        .then((page) => page);
      return reasons(
        service,
        documents.map(({ id }) => id),
      );
    };
    await interruptAtEachAppend(disableWebhookEndpoints, story, outcome, assert.deepEqual);
  });
});
