import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand } from '#application/commands/command.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { scopesOfKeyType } from '#domain/shared/scope.ts';
import type { Caller, KeyType } from '#domain/shared/tenancy.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { apiKeyCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, fresh, ids, tenants } from '#test/support/events/tenants.ts';
import { decidedAt, secretKey } from '#test/support/harness/command-harness.ts';
import { foldTold } from '#test/support/harness/recorded-events.ts';

const ranks: ReadonlyArray<KeyType> = ['project', 'organization', 'partner', 'admin'];

/** Declares tests of who may change a key that is within reach: nobody takes over a key that can do more. */
export function keyManagement(command: AnyCommand, input: JsonObject): void {
  const refusal = (caller: Caller, key: Partial<ApiKeyEvents['ApiKeyCreated']>) => {
    const subject = { state: null, tenant: tenants.project };
    const asked = { caller, fresh, secret: { key: secretKey }, subject, also: undefined };
    const context = { ...asked, time: decidedAt, maxFilledBytes: defaultMaxFilledBytes };
    const { state } = foldTold(command.entity, [apiKeyCreated(key)]);
    const decided = command.decide(input, state, context);
    return E.isLeft(decided) ? decided.left.code : null;
  };

  for (const [rank, keyType] of ranks.entries()) {
    for (const [otherRank, otherType] of ranks.entries()) {
      const may = rank >= otherRank;
      it(`${may ? 'lets' : 'does not let'} a key of type ${keyType} do it to one of type ${otherType}`, () => {
        const code = refusal(callerOf(keyType), { keyType: otherType });
        assert.equal(code, may ? null : 'key-type-not-allowed');
      });
    }
  }

  it('is refused for a key with a scope that the caller lacks', () => {
    const caller = callerOf('organization', { scopes: ['keys:write', 'flows:read'] });
    assert.equal(refusal(caller, { scopes: ['flows:read'] }), null);
    assert.equal(refusal(caller, { scopes: ['flows:read', 'flows:write'] }), 'scope-required');
  });

  it('is refused to a key with a list of scopes for one with all scopes of its type, whatever the list', () => {
    const listed = callerOf('organization', { scopes: scopesOfKeyType.organization });
    assert.equal(refusal(listed, { scopes: null }), 'scope-required');
    assert.equal(refusal(callerOf('organization'), { scopes: null }), null);
    assert.equal(refusal(callerOf('organization', { scopes: ['keys:write'] }), { scopes: null }), 'scope-required');
  });

  it('is open to the key itself', () => {
    const caller = callerOf('project', { keyId: ids.key, scopes: ['keys:write'] });
    assert.equal(refusal(caller, { keyType: 'project', scopes: [...scopesOfKeyType.project] }), null);
  });
}
