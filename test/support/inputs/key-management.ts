import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand } from '#application/commands/command.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { type Caller, type KeyType, scopesOfKeyType } from '#domain/shared/access.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { apiKeyCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, newIds, tenants } from '#test/support/events/tenants.ts';
import { decidedAt, secretKey, webhookSecret } from '#test/support/harness/command-harness.ts';
import { foldEvents } from '#test/support/harness/recorded-events.ts';

const ranks: ReadonlyArray<KeyType> = ['project', 'organization', 'partner', 'admin'];

/** Declares tests of who may change an API key that the caller can access: no caller may take over a key with more rights. */
export function describeKeyManagement(command: AnyCommand, input: JsonObject): void {
  const refusal = (caller: Caller, key: Partial<ApiKeyEvents['ApiKeyCreated']>) => {
    const subject = { state: null, tenant: tenants.project };
    const asked = { caller, newIds, newSecrets: { apiKey: secretKey, webhookSecret }, subject, related: undefined };
    const context = { ...asked, time: decidedAt, maxFilledBytes: defaultMaxFilledBytes };
    const { state } = foldEvents(command.entity, [apiKeyCreated(key)]);
    const decided = command.decide(input, state, context);
    return E.isLeft(decided) ? decided.left.code : null;
  };

  for (const [rank, keyType] of ranks.entries()) {
    for (const [otherRank, otherType] of ranks.entries()) {
      const may = rank >= otherRank;
      it(`${may ? 'lets' : 'does not let'} a key of type ${keyType} change a key of type ${otherType}`, () => {
        const code = refusal(callerOf(keyType), { keyType: otherType });
        assert.equal(code, may ? null : 'key-type-not-allowed');
      });
    }
  }

  it('refuses a change to a key with a scope that the caller lacks', () => {
    const caller = callerOf('organization', { scopes: ['keys:write', 'flows:read'] });
    assert.equal(refusal(caller, { scopes: ['flows:read'] }), null);
    assert.equal(refusal(caller, { scopes: ['flows:read', 'flows:write'] }), 'scope-required');
  });

  it('refuses a caller with any list of scopes a change to a key with all scopes of its type', () => {
    const listed = callerOf('organization', { scopes: scopesOfKeyType.organization });
    assert.equal(refusal(listed, { scopes: null }), 'scope-required');
    assert.equal(refusal(callerOf('organization'), { scopes: null }), null);
    assert.equal(refusal(callerOf('organization', { scopes: ['keys:write'] }), { scopes: null }), 'scope-required');
  });

  it('lets a key change itself', () => {
    const caller = callerOf('project', { keyId: ids.key, scopes: ['keys:write'] });
    assert.equal(refusal(caller, { keyType: 'project', scopes: [...scopesOfKeyType.project] }), null);
  });
}
