import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand } from '#application/commands/command.ts';
import type { RememberedRequest } from '#application/commands/remembered-requests.ts';
import type { StreamState } from '#application/commands/stream-state.ts';
import type { StreamWriter } from '#application/commands/stream-writer.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { CommandAttempt } from './command-attempt.ts';

/** The stream remembers the request, so its answer is built again. */
export interface Replay {
  readonly kind: 'replay';
  readonly remembered: RememberedRequest;
}

/** The ids that derive from the `Idempotency-Key` are used by an earlier request that has expired. */
export interface IdAlreadyUsed {
  readonly kind: 'id-already-used';
}

/** Another node has made the key of the subject since, so the attempt is made again with that key. */
export interface KeyMadeElsewhere {
  readonly kind: 'key-made-elsewhere';
}

/** The outcome of an attempt that sealed texts with a key which another node has made since. */
export const keyMadeElsewhere: KeyMadeElsewhere = { kind: 'key-made-elsewhere' };

/** The outcome of a request whose new id belongs to another request. */
export const idAlreadyUsed: IdAlreadyUsed = { kind: 'id-already-used' };

/**
 * Stage 7: looks up a request in a stream.
 * @returns null for a new request
 */
export function recall(
  { isIdUsed, personal }: AnyCommand,
  { id, idempotency, input, newIds, newKeys }: CommandAttempt,
  stream: StreamState<unknown>,
): E.Either<Failure | Replay | IdAlreadyUsed, never> | null {
  if (idempotency === null) return null;
  const remembered = stream.remembered.get(idempotency.key);
  if (remembered === undefined) return isIdUsed?.(stream.state, input, newIds) ? E.left(idAlreadyUsed) : null;
  // The key with which the body was remembered is destroyed or lost.
  if (personal === true && newKeys.has(id)) return E.left(erasedSince);
  return E.left(remembered.bodyHash === idempotency.body ? { kind: 'replay', remembered } : keyReused);
}

/**
 * In a stream of many resources, whether these ids were used before the remembered request.
 * @throws UnavailableError
 */
export async function isIdUsedBefore(
  { entity, isIdUsed }: AnyCommand,
  writer: StreamWriter,
  { id, input, newIds }: CommandAttempt,
  { firstRevision }: RememberedRequest,
): Promise<boolean> {
  if (isIdUsed === undefined || firstRevision === 0) return false;
  const before = await writer.loadAt(entity, id, firstRevision - 1);
  return isIdUsed(before.state, input, newIds);
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

const erasedSince = failure(
  'idempotency-key-erased',
  'This Idempotency-Key created something whose personal data was erased since: what the body was is not known any ' +
    'more, so it is not answered again. Use a new key for a new request.',
);

const keyReused = failure(
  'idempotency-key-reused',
  'This Idempotency-Key came with another body before. Use a new key for a new request.',
);
