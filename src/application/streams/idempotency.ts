import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { List, Map as PersistentMap } from 'immutable';
import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';

/** What identifies a request. */
interface KeyedRequest {
  readonly idempotencyKey: string | null;
  readonly caller: Pick<Caller, 'keyId'>;
  readonly target: string;
}

/** Null for a request without an `Idempotency-Key`. */
export function requestKeyOf({ idempotencyKey, caller, target }: KeyedRequest): string | null {
  return idempotencyKey === null ? null : hash('sha256', `${caller.keyId}\n${target}\n${idempotencyKey}`);
}

/** The running requests of this process with an `Idempotency-Key`: one for each key at a time. */
export class RunningKeys {
  readonly #running = new Set<string>();

  /**
   * Runs the request unless one with the key is running.
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

/** The failure when the earlier answer held personal data that was erased or lost. */
export const keyErased = failure(
  'idempotency-key-erased',
  'This Idempotency-Key created something whose personal data was erased since: what the body was is not known any ' +
    'more, so it is not answered again. Use a new key for a new request.',
);

/** The failure when another request has used the `Idempotency-Key`. */
export const keyReused = failure(
  'idempotency-key-reused',
  'This Idempotency-Key came with another body before. Use a new key for a new request.',
);

/** A request, remembered in the metadata of a command's events. */
export interface RememberedRequest {
  readonly key: string;
  readonly bodyHash: string;
  /** The revision of the first event that the request appended; `lastRevision` is that of the last one. */
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly time: string;
}

const rememberedForMs = 24 * 60 * 60 * 1000;

/**
 * Number of requests that one event removes: more than one, so that they do not accumulate, but few, so that no event
 * is slow.
 */
const droppedAtOnce = 4;

/**
 * Requests by key. Immutable: versions share nearly all of their data, so an event costs the same for any number of
 * requests.
 */
export class RememberedRequests {
  static readonly none = new RememberedRequests(PersistentMap(), List(), '');

  readonly #byKey: PersistentMap<string, RememberedRequest>;
  /** The requests in the order of their times. */
  readonly #order: List<RememberedRequest>;
  /** Requests before this time have expired. */
  readonly #oldest: string;

  private constructor(byKey: PersistentMap<string, RememberedRequest>, order: List<RememberedRequest>, oldest: string) {
    this.#byKey = byKey;
    this.#order = order;
    this.#oldest = oldest;
  }

  /** @param requests in the order of their times */
  static from(requests: Iterable<RememberedRequest>): RememberedRequests {
    const order = List(requests);
    return new RememberedRequests(PersistentMap(order.map((request) => [request.key, request])), order, '');
  }

  /** The number of requests, including expired ones that are not removed yet. */
  get held(): number {
    return this.#byKey.size;
  }

  /** The request, unless it has expired. */
  get(key: string): RememberedRequest | undefined {
    const request = this.#byKey.get(key);
    return request !== undefined && request.time >= this.#oldest ? request : undefined;
  }

  /** The requests that have not expired, in the order of their times. */
  *[Symbol.iterator](): Generator<RememberedRequest, void, void> {
    for (const { key, firstRevision } of this.#order) {
      const request = this.get(key);
      if (request?.firstRevision === firstRevision) yield request;
    }
  }

  after({ revision, metadata: { idempotency, time } }: RecordedEvent): RememberedRequests {
    if (idempotency === undefined && this.#order.isEmpty()) return this;
    const kept = this.#forgetting(new Date(Date.parse(time) - rememberedForMs).toISOString());
    return idempotency === undefined ? kept : kept.#with(idempotency, revision, time);
  }

  #forgetting(oldest: string): RememberedRequests {
    let byKey = this.#byKey;
    let order = this.#order;
    for (let left = droppedAtOnce; left > 0; left -= 1) {
      const first = order.first();
      if (first === undefined || first.time >= oldest) break;
      order = order.shift();
      // The key may have been used again after it expired.
      if ((byKey.get(first.key)?.time ?? oldest) < oldest) byKey = byKey.delete(first.key);
    }
    return new RememberedRequests(byKey, order, oldest);
  }

  #with({ key, body }: { key: string; body: string }, revision: number, time: string): RememberedRequests {
    const known = this.get(key);
    const firstRevision = known?.firstRevision ?? revision;
    const request = { key, bodyHash: body, firstRevision, lastRevision: revision, time };
    const order = known === undefined ? this.#order.push(request) : this.#order;
    return new RememberedRequests(this.#byKey.set(key, request), order, this.#oldest);
  }
}
