import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';

/**
 * Makes the refusal for a resource that does not exist. It is the same for a resource that the key cannot access, so
 * that the answer does not show whether the resource exists.
 * @param code names the kind: `flow-version-not-found` is about a flow version
 */
export function notFound(code: FailureCode, id: string): Failure {
  const kind = code.replace('-not-found', '').replaceAll('-', ' ');
  return failure(code, `There is no ${kind} ${id} that this key can access.`);
}
