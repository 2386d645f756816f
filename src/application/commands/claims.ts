import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { LRUCache } from 'lru-cache';
import type { Origin } from '#application/streams/stream-state.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import { phoneNumber, phoneNumberClaim } from '#domain/phone-number/phone-number.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** How long a claim is valid before its phone number exists, because its creator may be between its two appends. */
export const claimGraceMs = 2_000;
const pollIntervalMs = 50;
/** The most claims in memory. */
const maxSeen = 10_000;

/** The holder of a claim. */
export interface Claimant {
  /** The phone number that takes the claim. */
  readonly phoneNumberId: string;
  readonly tenant: Tenant;
  readonly origin: Origin;
}

/**
 * Keeps phone numbers unique with claim streams. A claim is appended before the phone number's own stream. After a
 * crash between the two, the number is not locked: the next creator sees that the holder does not exist.
 */
export class Claims {
  readonly #writer: StreamWriter;
  readonly #graceMs: number;
  /** When this node first saw a holder that did not exist, on this process's clock. */
  readonly #firstSeen = new LRUCache<string, number>({ max: maxSeen });

  /** @param graceMs how long a claim is valid before its phone number exists */
  constructor(writer: StreamWriter, graceMs = claimGraceMs) {
    this.#writer = writer;
    this.#graceMs = graceMs;
  }

  /**
   * Takes the claim, or fails with `phone-number-taken`. Succeeds if the claimant already holds it.
   * @param claimed the number with its space, see `claimedNumbers`
   * @throws UnavailableError
   */
  async take(claimed: string, { phoneNumberId, tenant, origin }: Claimant): Promise<E.Either<Failure, unknown>> {
    const id = hash('sha256', claimed);
    return this.#writer.write({
      entity: phoneNumberClaim,
      id,
      origin,
      decide: async ({ state: claim }, deadline) => {
        if (claim?.phoneNumberId === phoneNumberId) return E.right({ events: [], tenant });
        if (claim !== null) {
          const graceEnds = this.#graceEnd(id, claim.phoneNumberId, claim.since);
          if (!(await this.#isFree(claim.phoneNumberId, { graceEnds, deadline }, origin, tenant))) return E.left(taken);
        }
        return E.right({ events: [newEvent('PhoneNumberClaimed', { phoneNumberId })], tenant });
      },
    });
  }

  /**
   * Why the claim cannot be taken now; null if it can. Takes nothing. It does not wait for a holder that does not exist
   * yet; only `take` does.
   * @throws UnavailableError
   */
  async check(claimed: string, phoneNumberId: string): Promise<Failure | null> {
    const { state: claim } = await this.#writer.load(phoneNumberClaim, hash('sha256', claimed));
    if (claim === null || claim.phoneNumberId === phoneNumberId) return null;
    const { state, revision } = await this.#writer.load(phoneNumber, claim.phoneNumberId);
    return revision >= 0 && phoneNumber.isLive(state, claim.phoneNumberId) ? taken : null;
  }

  /**
   * The end of the wait for a holder that does not exist yet, on this process's clock. The clock of the claiming
   * node may be ahead, so the wait ends at the latest one grace period after this node first saw the claim.
   */
  #graceEnd(claimId: string, holderId: string, since: string): number {
    const now = clock.now();
    const claim = `${claimId} ${holderId} ${since}`;
    const firstSeen = this.#firstSeen.get(claim) ?? now;
    this.#firstSeen.set(claim, firstSeen);
    const leftByClock = Date.parse(since) + this.#graceMs - clock.time();
    return Math.min(firstSeen + this.#graceMs, now + leftByClock);
  }

  /**
   * Whether a holder has lost its claim. A holder that was never created is closed first, so that it cannot be created
   * late.
   */
  async #isFree(
    holderId: string,
    { graceEnds, deadline }: { readonly graceEnds: number; readonly deadline: number },
    origin: Origin,
    tenant: Tenant,
  ): Promise<boolean> {
    for (;;) {
      const { state, revision } = await this.#writer.load(phoneNumber, holderId);
      if (revision >= 0) return !phoneNumber.isLive(state, holderId);
      const now = clock.now();
      if (now >= graceEnds) break;
      if (now >= deadline) throw new UnavailableError('Another request is creating a phone number with this number.');
      await delay(Math.min(pollIntervalMs, Math.max(0, Math.min(graceEnds, deadline) - now)));
    }
    const closed = await this.#writer.write({
      entity: phoneNumber,
      id: holderId,
      origin,
      // The holder's creation may have the turn of its stream and wait for this claim's turn: see `TurnMode`.
      mode: 'bypass',
      decide: ({ state }) =>
        E.right({ events: state === null ? [newEvent('PhoneNumberAbandoned', { id: holderId })] : [], tenant }),
    });
    return E.isRight(closed) && !phoneNumber.isLive(closed.right.stream.state, holderId);
  }
}

const taken = failure(
  'phone-number-taken',
  'Another phone number has this number. Delete that one first, or use another number.',
);
