import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { localOperator } from '#app/local-app.ts';
import type { AnyCommand } from '#application/commands/command.ts';
import { createApiKey } from '#commands/api-key/create-api-key.ts';
import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { project } from '#domain/project/project.ts';
import { type Caller, type KeyType, type Scope, scopes, scopesOfKeyType, type Tenant } from '#domain/shared/access.ts';
import { apiKeyCreated, projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, newIds, tenants } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { decidedAt, givenHistory, secretKey } from '#test/support/harness/command-harness.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { projectId: ids.project, name: 'Website' };
const keyTypes: ReadonlyArray<KeyType> = ['admin', 'partner', 'organization', 'project'];

const projectOf = (tenant: Tenant) => ({
  state: stateOf(project, projectCreated(tenant.projectId ?? '', tenant.organizationId)),
  tenant,
});
const subject = projectOf(tenants.project);

const created = (
  keyType: KeyType,
  granted: Iterable<string> | null,
  change: Partial<ApiKeyEvents['ApiKeyCreated']> = {},
) =>
  apiKeyCreated({
    id: newIds.id,
    keyType,
    scopes: granted && [...granted],
    ...storedFormOfKey(secretKey),
    createdByKeyId: callerOf('admin').keyId,
    ...change,
  });
const by = (caller: Caller) => ({ createdByKeyId: caller.keyId });

describe('create_api_key', () => {
  const mayMake: Readonly<Record<KeyType, ReadonlyArray<KeyType>>> = {
    admin: keyTypes,
    partner: ['partner', 'organization', 'project'],
    organization: ['organization', 'project'],
    project: ['project'],
  };
  for (const maker of keyTypes) {
    for (const keyType of keyTypes) {
      const may = mayMake[maker].includes(keyType);
      it(`${may ? 'allows' : 'does not allow'} a key of type ${maker} to create a key of type ${keyType}`, () => {
        const decided = givenHistory().when(
          createApiKey,
          { ...input, keyType, scopes: ['flows:read'] },
          { caller: callerOf(maker), subject },
        );
        if (may) decided.then(created(keyType, ['flows:read'], by(callerOf(maker))));
        else decided.then('key-type-not-allowed');
      });
    }
  }

  it('grants all scopes of the key type by default, including scopes added in later releases', () => {
    for (const scopes of [undefined, null]) {
      const asked = { ...input, keyType: 'project', ...(scopes === undefined ? {} : { scopes }) };
      givenHistory().when(createApiKey, asked, { subject }).then(created('project', null));
    }
  });

  it('grants by default the creator’s listed scopes that the new key’s type can have', () => {
    const caller = callerOf('partner', { scopes: ['keys:write', 'templates:read', 'flows:read'] });
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'organization' }, { caller, subject })
      .then(created('organization', ['flows:read', 'keys:write'], by(caller)));
    const listed = callerOf('project', { scopes: scopesOfKeyType.project });
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'project' }, { caller: listed, subject })
      .then(created('project', scopesOfKeyType.project, by(listed)));
  });

  it('records the key that created a key, and null for the operator on the machine', () => {
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'admin' }, { caller: localOperator, subject })
      .then(created('admin', null, { createdByKeyId: null }));
  });

  it('records when a key expires, which must be in the future', () => {
    const expiresAt = new Date(Date.parse(decidedAt) + 1).toISOString();
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'project', expiresAt }, { subject })
      .then(created('project', null, { expiresAt }));
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'project', expiresAt: decidedAt }, { subject })
      .then('invalid-input');
  });

  describe('create_api_key while the creating key is revoked', () => {
    const path = { projectId: ids.project };
    const body = { name: 'Website', keyType: 'project' };
    const maker = callerOf('project', { keyId: 'ckeymaker0000001' });

    async function startService(): Promise<Service> {
      const service = new Service();
      const store = (entity: AnyCommand['entity'], id: string, event: object) =>
        service.writer.write({
          entity,
          id,
          origin: { actor: maker, requestId: 'r', correlationId: 'r', causationId: 'r' },
          decide: () => E.right({ events: [event as never], tenant: tenants.project }),
        });
      await store(project, ids.project, projectCreated());
      await store(apiKey, maker.keyId, apiKeyCreated({ id: maker.keyId, scopes: null }));
      return service;
    }

    it('revokes the new key and does not return its secret when the creating key is revoked meanwhile', async () => {
      const service = await startService();
      service.store.beforeAppend = async ({ events: [event] }) => {
        if (event?.type !== 'ApiKeyCreated') return null;
        service.store.beforeAppend = async () => null;
        await service.ok(revokeApiKey, { keyId: maker.keyId });
        return null;
      };
      assert.equal(await service.refusal(createApiKey, path, { caller: maker, body }), 'key-invalid');
      const made = service.store.log.filter(({ type }) => type === 'ApiKeyCreated').at(-1);
      assert.deepEqual(service.store.types(made?.stream), ['ApiKeyCreated', 'ApiKeyRevoked']);
    });

    it('returns the secret of the new key when the creating key is not revoked', async () => {
      const service = await startService();
      const { body: made } = await service.ok(createApiKey, path, { caller: maker, body });
      assert.equal(made.createdByKeyId, maker.keyId);
      assert.match(String(made.key), /^sy_live_/);
    });
  });

  it('grants each requested scope once, and none when the list is empty', () => {
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'project', scopes: ['flows:read', 'flows:read'] }, { subject })
      .then(created('project', ['flows:read']));
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'project', scopes: [] }, { subject })
      .then(created('project', []));
  });

  it('refuses a scope that the creating key lacks', () => {
    const caller = callerOf('organization', { scopes: ['keys:write', 'flows:read'] });
    givenHistory()
      .when(createApiKey, { ...input, keyType: 'project', scopes: ['flows:write'] }, { caller, subject })
      .then('scope-required');
  });

  for (const keyType of keyTypes) {
    it(`grants a key of type ${keyType} the scopes of that type and no others`, () => {
      for (const scope of scopes) {
        const decided = givenHistory().when(createApiKey, { ...input, keyType, scopes: [scope] }, { subject });
        if (rows[keyType].has(scope)) decided.then(created(keyType, [scope]));
        else decided.then('invalid-input');
      }
    });
  }

  it('refuses a partner key in an organization that is not a partner, even a partner’s customer', () => {
    for (const tenant of [tenants.customer, tenants.stranger]) {
      givenHistory()
        .when(
          createApiKey,
          { ...input, projectId: tenant.projectId, keyType: 'partner' },
          { subject: projectOf(tenant) },
        )
        .then('organization-not-partner');
    }
  });

  it('stores only a hash and a short prefix of a secret', () => {
    const [, shown] = /^(sy_live_.{4})$/.exec(storedFormOfKey(secretKey).prefix) ?? [];
    assert.ok(shown !== undefined && secretKey.startsWith(shown));
    assert.match(storedFormOfKey(secretKey).secretHash, /^[0-9a-f]{64}$/);
  });

  describe('input of create_api_key', () => {
    const of = inputOf(createApiKey, { ...input, keyType: 'project' });
    of.id('projectId');
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.required('keyType');
    of.choice('keyType', keyTypes);
    of.optional('scopes', undefined);
    of.accepts('scopes', [...scopes], 'every scope');
    of.accepts('scopes', null);
    for (const value of ['flows:read', ['flows'], ['flows:admin'], [''], [1], {}]) of.refuses('scopes', value);
    of.optional('expiresAt', undefined);
    of.accepts('expiresAt', null);
    of.accepts('expiresAt', '2026-03-01T01:00:00+02:00', undefined, '2026-02-28T23:00:00.000Z');
    of.refuses('expiresAt', 'tomorrow');
    of.ignoresUnknown();
  });
});

/** The scopes that each key type can have. */
const everyone: ReadonlyArray<Scope> = [
  'flows:read',
  'flows:write',
  'phone-numbers:read',
  'phone-numbers:write',
  'agent-profiles:read',
  'agent-profiles:write',
  'instances:read',
  'projects:read',
  'keys:read',
  'keys:write',
  'audit:read',
  'audit:write',
  'gateway:read',
  'gateway:write',
  'files:read',
  'files:write',
  'batches:read',
  'batches:write',
  'stores:read',
  'stores:write',
  'webhooks:read',
  'webhooks:write',
  'usage:read',
  'dashboard:read',
];
const partners: ReadonlyArray<Scope> = [
  ...everyone,
  'projects:write',
  'templates:read',
  'templates:write',
  'instances:write',
  'customers:read',
  'customers:write',
];
const rows: Readonly<Record<KeyType, ReadonlySet<string>>> = {
  admin: new Set([...partners, 'operations:write']),
  partner: new Set(partners),
  organization: new Set([...everyone, 'projects:write']),
  project: new Set(everyone),
};
