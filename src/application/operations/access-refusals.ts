import { type Caller, type Scope, scopesOfKeyType } from '#domain/shared/access.ts';
import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';

/** Returns why a key may not call an operation; null if it may. */
export function checkScopes(caller: Caller, { scope, alsoScope }: NeededScopes): Failure | null {
  return checkScope(caller, scope) ?? checkScope(caller, alsoScope ?? null);
}

/** Returns the scopes that an operation needs. */
interface NeededScopes {
  readonly scope: Scope | null;
  readonly alsoScope?: Scope;
}

/** Returns a refusal if a key lacks a scope; null if it has it. */
function checkScope(caller: Caller, scope: Scope | null): Failure | null {
  if (scope === null || caller.scopes.has(scope)) return null;
  if (!scopesOfKeyType[caller.keyType].has(scope)) {
    return failure('key-type-not-allowed', `This needs the scope ${scope}, which no ${caller.keyType} key can have.`);
  }
  return failure('scope-required', `This needs the scope ${scope}. Use a key that has it.`);
}

/**
 * Makes the refusal for a resource that does not exist. It is the same for a resource that the key cannot access, so
 * that the answer does not show whether the resource exists.
 * @param code names the kind: `flow-version-not-found` is about a flow version
 */
export function notFound(code: FailureCode, id: string): Failure {
  const kind = code.replace('-not-found', '').replaceAll('-', ' ');
  return failure(code, `There is no ${kind} ${id} that this key can access.`);
}
