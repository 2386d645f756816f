import assert from 'node:assert/strict';
import { createApiKey } from '#commands/api-key/create-api-key.ts';
import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { createWebhookEndpoint } from '#commands/webhook-endpoint/create-webhook-endpoint.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { disableWebhookEndpoints, revokeDescendantKeys } from '#processes/cascades.ts';
import { ids } from '#test/support/events/tenants.ts';
import type { Service } from '#test/support/harness/in-memory-service.ts';
import { interruptAtEachAppend, ProcessDriver } from '#test/support/harness/process-harness.ts';
import { callerWithKey, rootKey, serviceWithKey } from './service-with-key.ts';

async function make(service: Service, keyId: string): Promise<string> {
  const body = { url: 'https://example.com/hooks', eventTypes: [] };
  return String((await service.ok(createWebhookEndpoint, {}, { caller: callerWithKey(keyId), body })).body.id);
}

async function reasons(service: Service, endpoints: ReadonlyArray<string>) {
  const states = endpoints.map(async (id) => (await service.writer.load(webhookEndpoint, id)).state);
  return (await Promise.all(states)).map((state) => state?.record.disabledReason);
}

describe('disableWebhookEndpoints', () => {
  it('disables only the endpoints that the key and its descendants created', async () => {
    const service = await serviceWithKey();
    const body = { name: 'Key', keyType: 'project' };
    const child = await service.ok(createApiKey, { projectId: ids.project }, { caller: callerWithKey(rootKey), body });
    const endpoints = [
      await make(service, rootKey),
      await make(service, String(child.body.id)),
      await make(service, 'ckeyother0000001'),
    ];
    await service.ok(revokeApiKey, { keyId: rootKey }, { body: { descendants: true } });
    await new ProcessDriver(revokeDescendantKeys, service).settle();
    await new ProcessDriver(disableWebhookEndpoints, service).settle();
    assert.deepEqual(await reasons(service, endpoints), ['key-revoked', 'key-revoked', null]);
  });

  it('does not change the endpoints of a key that is revoked without its descendants', async () => {
    const service = await serviceWithKey();
    const endpoint = await make(service, rootKey);
    await service.ok(revokeApiKey, { keyId: rootKey });
    await new ProcessDriver(disableWebhookEndpoints, service).settle();
    assert.deepEqual(await reasons(service, [endpoint]), [null]);
  });

  it('disables an endpoint that is created while its creator is being revoked', async () => {
    const service = await serviceWithKey();
    await service.ok(revokeApiKey, { keyId: rootKey }, { body: { descendants: true } });
    const endpoint = await make(service, rootKey);
    await new ProcessDriver(disableWebhookEndpoints, service).settle();
    assert.deepEqual(await reasons(service, [endpoint]), ['key-revoked']);
  });

  it('gives the same result when it is interrupted at any append', async () => {
    const story = async () => {
      const service = await serviceWithKey();
      await make(service, rootKey);
      await make(service, rootKey);
      await service.ok(revokeApiKey, { keyId: rootKey }, { body: { descendants: true } });
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
