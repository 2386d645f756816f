import * as E from 'fp-ts/lib/Either.js';
import type { AnyOperation } from '#application/operations/operation.ts';
import { failure } from '#domain/shared/failure.ts';
import { type AsOf, describeAsOf } from './as-of.ts';

/** A service of a past moment stays read-only, so clients need not retry soon. */
const retryAfterSeconds = 3_600;

/**
 * Returns the operations of a read-only service. Reads stay unchanged. Everything else (commands, uploads, calls of
 * models, the live feed) is refused after its key is checked.
 */
export function refuseWrites(operations: ReadonlyArray<AnyOperation>, asOf: AsOf): ReadonlyArray<AnyOperation> {
  const detail = `This service only answers reads, as of ${describeAsOf(asOf)}. Ask the service in operation.`;
  const refusal = E.left(failure('read-only', detail, { retryAfterSeconds }));
  const refuse = async () => refusal;
  return operations.map((operation): AnyOperation => {
    if (operation.kind === 'query' || operation.kind === 'download') return operation;
    return { ...operation, kind: 'command', loadSubject: refuse, execute: refuse };
  });
}
