import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { OperationRequest } from '#application/operations/operation-request.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';

/** Identifies a request with an `Idempotency-Key`; null for a request without one. */
export function requestKeyOf({ idempotencyKey, caller, requestTarget }: OperationRequest): string | null {
  return idempotencyKey === null ? null : hash('sha256', `${caller.keyId}\n${requestTarget}\n${idempotencyKey}`);
}

/** The running requests of this process with an `Idempotency-Key`: one for each key at a time. */
export class RunningRequests {
  readonly #running = new Set<string>();

  /**
   * Runs the request with a key, unless one is running.
   * @param key null for a request without one, which always runs
   */
  async run<Result>(
    key: string | null,
    work: () => Promise<E.Either<Failure, Result>>,
  ): Promise<E.Either<Failure, Result>> {
    if (key === null) return work();
    if (this.#running.has(key)) return E.left(stillRunning);
    this.#running.add(key);
    try {
      return await work();
    } finally {
      this.#running.delete(key);
    }
  }
}

const stillRunning = failure(
  'idempotency-key-in-progress',
  'A request with this Idempotency-Key has not been answered yet. Wait for it, or send it again later.',
  { retryAfterSeconds: 1 },
);

/** The refusal of a request whose earlier answer held personal data that was erased or lost. */
export const keyErased = failure(
  'idempotency-key-erased',
  'This Idempotency-Key created something whose personal data was erased since: what the body was is not known any ' +
    'more, so it is not answered again. Use a new key for a new request.',
);

/** The refusal of a request that uses the `Idempotency-Key` of another one. */
export const keyReused = failure(
  'idempotency-key-reused',
  'This Idempotency-Key came with another body before. Use a new key for a new request.',
);
