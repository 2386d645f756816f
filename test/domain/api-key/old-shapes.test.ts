import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { upcasters } from '#domain/upcasters.ts';
import { upcastWith } from '#event-store/recorded-event.ts';

const upcast = upcastWith(upcasters);
const written = JSON.parse(
  readFileSync(new URL('../../fixtures/events/ApiKeyCreated.v1.json', import.meta.url), 'utf8'),
).data;
const resources = [
  'flows',
  'phone-numbers',
  'agent-profiles',
  'instances',
  'keys',
  'audit',
  'gateway',
  'files',
  'batches',
  'stores',
  'projects',
];
const ofProject = resources
  .flatMap((resource) => [`${resource}:read`, `${resource}:write`])
  .filter((scope) => scope !== 'instances:write' && scope !== 'projects:write');
const scopesOf = (keyType: string, scopes: ReadonlyArray<string>) =>
  upcast('ApiKeyCreated', 1, { ...written, keyType, scopes }).scopes;

describe('upcasting ApiKeyCreated from version 1', () => {
  it('replaces a list of all scopes of the key’s type by null', () => {
    assert.equal(scopesOf('project', ofProject), null);
    assert.equal(scopesOf('project', ofProject.toReversed()), null);
    const ofOrganization = [...ofProject, 'projects:write'];
    assert.equal(scopesOf('organization', ofOrganization), null);
    const further = ['templates', 'customers'].flatMap((resource) => [`${resource}:read`, `${resource}:write`]);
    assert.equal(scopesOf('partner', [...ofOrganization, 'instances:write', ...further]), null);
    assert.equal(scopesOf('admin', [...ofOrganization, 'instances:write', ...further, 'operations:write']), null);
  });

  it('keeps a list that lacks a scope of the key’s type', () => {
    assert.deepEqual(scopesOf('project', ofProject.slice(1)), ofProject.slice(1));
    assert.deepEqual(scopesOf('organization', ofProject), ofProject);
    assert.deepEqual(scopesOf('project', []), []);
  });

  it('sets creator and expiry of an old key to null', () => {
    const { createdByKeyId, expiresAt } = upcast('ApiKeyCreated', 1, written);
    assert.deepEqual({ createdByKeyId, expiresAt }, { createdByKeyId: null, expiresAt: null });
  });
});
