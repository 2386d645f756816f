import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { upcasters } from '#domain/shared/upcasters.ts';
import { upcastWith } from '#event-store/upcasting.ts';

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

describe('a key that was made before scopes could be null', () => {
  it('has all scopes of its type where it had all that there were', () => {
    assert.equal(scopesOf('project', ofProject), null);
    assert.equal(scopesOf('project', ofProject.toReversed()), null);
    const ofOrganization = [...ofProject, 'projects:write'];
    assert.equal(scopesOf('organization', ofOrganization), null);
    const further = ['templates', 'customers'].flatMap((resource) => [`${resource}:read`, `${resource}:write`]);
    assert.equal(scopesOf('partner', [...ofOrganization, 'instances:write', ...further]), null);
    assert.equal(scopesOf('admin', [...ofOrganization, 'instances:write', ...further, 'operations:write']), null);
  });

  it('keeps its list where that lacked one', () => {
    assert.deepEqual(scopesOf('project', ofProject.slice(1)), ofProject.slice(1));
    assert.deepEqual(scopesOf('organization', ofProject), ofProject);
    assert.deepEqual(scopesOf('project', []), []);
  });

  it('has no known maker and does not end by itself', () => {
    const { createdByKeyId, expiresAt } = upcast('ApiKeyCreated', 1, written);
    assert.deepEqual({ createdByKeyId, expiresAt }, { createdByKeyId: null, expiresAt: null });
  });
});
