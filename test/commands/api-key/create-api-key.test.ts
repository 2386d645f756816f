import assert from 'node:assert/strict';
import { createApiKey } from '#commands/api-key/create-api-key.ts';
import { keptOfSecret } from '#domain/api-key/secret.ts';
import { project } from '#domain/project/project.ts';
import { type Scope, scopes, scopesOfKeyType } from '#domain/scope.ts';
import type { KeyType, Tenant } from '#domain/tenancy.ts';
import { given, secretKey } from '#test/support/given.ts';
import { inputOf } from '#test/support/input-of.ts';
import { stateOf } from '#test/support/recorded.ts';
import { callerOf, fresh, ids, tenants } from '#test/support/story.ts';
import { apiKeyCreated, projectCreated } from '#test/support/tenant-events.ts';

const input = { projectId: ids.project, name: 'Website' };
const keyTypes: ReadonlyArray<KeyType> = ['admin', 'partner', 'organization', 'project'];

const projectOf = (tenant: Tenant) => ({
  state: stateOf(project, projectCreated(tenant.projectId ?? '', tenant.organizationId)),
  tenant,
});
const subject = projectOf(tenants.project);

const created = (keyType: KeyType, granted: Iterable<string>) =>
  apiKeyCreated({ id: fresh.id, keyType, scopes: [...granted], ...keptOfSecret(secretKey) });

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
      it(`${may ? 'lets' : 'does not let'} a key of type ${maker} make one of type ${keyType}`, () => {
        const decided = given().when(
          createApiKey,
          { ...input, keyType, scopes: ['flows:read'] },
          { caller: callerOf(maker), subject },
        );
        if (may) decided.then(created(keyType, ['flows:read']));
        else decided.then('key-type-not-allowed');
      });
    }
  }

  it("gives by default the maker's scopes, as far as the type can have them", () => {
    given()
      .when(createApiKey, { ...input, keyType: 'project' }, { subject })
      .then(created('project', scopesOfKeyType.project));
    const caller = callerOf('partner', { scopes: ['keys:write', 'templates:read', 'flows:read'] });
    given()
      .when(createApiKey, { ...input, keyType: 'organization' }, { caller, subject })
      .then(created('organization', ['flows:read', 'keys:write']));
  });

  it('gives the scopes asked for, each once, none when none are asked for', () => {
    given()
      .when(createApiKey, { ...input, keyType: 'project', scopes: ['flows:read', 'flows:read'] }, { subject })
      .then(created('project', ['flows:read']));
    given()
      .when(createApiKey, { ...input, keyType: 'project', scopes: [] }, { subject })
      .then(created('project', []));
  });

  it('gives no scope that the maker lacks', () => {
    const caller = callerOf('organization', { scopes: ['keys:write', 'flows:read'] });
    given()
      .when(createApiKey, { ...input, keyType: 'project', scopes: ['flows:write'] }, { caller, subject })
      .then('scope-required');
  });

  for (const keyType of keyTypes) {
    it(`gives to the type ${keyType} the scopes of its row and no others`, () => {
      for (const scope of scopes) {
        const decided = given().when(createApiKey, { ...input, keyType, scopes: [scope] }, { subject });
        if (rows[keyType].has(scope)) decided.then(created(keyType, [scope]));
        else decided.then('invalid-input');
      }
    });
  }

  it("makes no partner key in an organization that is no partner, a customer's neither", () => {
    for (const tenant of [tenants.customer, tenants.stranger]) {
      given()
        .when(
          createApiKey,
          { ...input, projectId: tenant.projectId, keyType: 'partner' },
          { subject: projectOf(tenant) },
        )
        .then('organization-not-partner');
    }
  });

  it('keeps of the secret a hash and a short prefix', () => {
    const [, shown] = /^(sy_live_.{4})$/.exec(keptOfSecret(secretKey).prefix) ?? [];
    assert.ok(shown !== undefined && secretKey.startsWith(shown));
    assert.match(keptOfSecret(secretKey).secretHash, /^[0-9a-f]{64}$/);
  });

  describe('input', () => {
    const of = inputOf(createApiKey, { ...input, keyType: 'project' });
    of.id('projectId');
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.required('keyType');
    of.choice('keyType', keyTypes);
    of.optional('scopes', undefined);
    of.accepts('scopes', [...scopes], 'every scope');
    for (const value of [null, 'flows:read', ['flows'], ['flows:admin'], [''], [1], {}]) of.refuses('scopes', value);
    of.ignoresUnknown();
  });
});

/** DECISIONS.md, "Tenancy and keys": what each type may do at most. */
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
