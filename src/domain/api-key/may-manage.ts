import { type Failure, failure } from '#domain/shared/failure.ts';
import { effectiveScopes } from '#domain/shared/scope.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import type { ApiKeyState } from './api-key.ts';

const rank = { project: 0, organization: 1, partner: 2, admin: 3 } as const;

/**
 * Why a key may not rotate or revoke another key with more rights; null if it may.
 */
export function checkMayManage(caller: Caller, state: ApiKeyState): Failure | null {
  if (state === null || state.record.id === caller.keyId) return null;
  const { keyType, scopes } = state.record;
  if (rank[keyType] > rank[caller.keyType]) {
    return failure('key-type-not-allowed', `A key of type ${caller.keyType} cannot manage one of type ${keyType}.`);
  }
  const wider = [...effectiveScopes(keyType, scopes)].find((scope) => !caller.scopes.has(scope));
  if (wider !== undefined) {
    return failure('scope-required', `A key cannot manage one that has a scope it lacks itself: ${wider}.`);
  }
  return scopes === null && !caller.hasAllScopes
    ? failure('scope-required', 'A key with a list of scopes cannot manage one that has all scopes of its type.')
    : null;
}
