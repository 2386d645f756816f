import * as E from 'fp-ts/lib/Either.js';
import type { AnyOperation } from '#application/operations/operation.ts';
import { failure } from '#domain/shared/failure.ts';
import { type AsOf, describeAsOf } from './as-of.ts';

/** A service of a past moment does not become another one by itself. */
const retryAfterSeconds = 3_600;

/**
 * The operations of a service that reads alone: reads stay as they are. Everything else (commands, uploads, calls of
 * models, the live feed) is refused once its key is known.
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
