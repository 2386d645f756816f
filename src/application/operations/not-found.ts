import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';

/**
 * The refusal of what does not exist. What the key cannot access reads the same, so that nobody learns that it exists.
 * @param code names the kind: `flow-version-not-found` is about a flow version
 */
export function notFound(code: FailureCode, id: string): Failure {
  const kind = code.replace('-not-found', '').replaceAll('-', ' ');
  return failure(code, `There is no ${kind} ${id} that this key can access.`);
}
