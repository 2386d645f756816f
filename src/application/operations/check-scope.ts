import { type Failure, failure } from '#domain/shared/failure.ts';
import { type Scope, scopesOfKeyType } from '#domain/shared/scope.ts';
import type { Caller } from '#domain/shared/tenancy.ts';

/** Why a key may not do what needs a scope; null when it may. */
export function checkScope(caller: Caller, scope: Scope | null): Failure | null {
  if (scope === null || caller.scopes.has(scope)) return null;
  if (!scopesOfKeyType[caller.keyType].has(scope)) {
    return failure('key-type-not-allowed', `This needs the scope ${scope}, which no ${caller.keyType} key can have.`);
  }
  return failure('scope-required', `This needs the scope ${scope}. Use a key that has it.`);
}
