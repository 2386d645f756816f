import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { happened } from '#domain/event.ts';
import { type Failure, failure } from '#domain/failure.ts';
import { phoneNumber, phoneNumberClaim } from '#domain/phone-number/phone-number.ts';
import type { Tenant } from '#domain/tenancy.ts';
import type { CommandHandler, Origin } from '#event-store/command-handler.ts';

/** How long a claim whose phone number has not begun is honoured: its creator may be between its two appends. */
export const claimGraceMilliseconds = 2_000;
const pollMilliseconds = 50;

/** Who claims. */
export interface Claimant {
  /** The phone number that is to hold the claim. */
  readonly phoneNumberId: string;
  readonly tenant: Tenant;
  readonly origin: Origin;
}

/**
 * Uniqueness of phone numbers, held by claim streams (DECISIONS.md, "Phone numbers"). A claim is appended before the
 * phone number's own stream, so a crash between the two locks nothing: the next comer sees that the holder never began.
 */
export class Claims {
  readonly #handler: CommandHandler;

  constructor(handler: CommandHandler) {
    this.#handler = handler;
  }

  /**
   * Takes the claim, or fails with `phone-number-taken`. Taking what one holds is a success.
   * @param claimed the number with its space, see `claimedNumber`
   * @throws Unavailable
   */
  async take(claimed: string, { phoneNumberId, tenant, origin }: Claimant): Promise<E.Either<Failure, unknown>> {
    return this.#handler.handle({
      entity: phoneNumberClaim,
      id: hash('sha256', claimed),
      origin,
      decide: async ({ state: claim }) => {
        if (claim?.phoneNumberId === phoneNumberId) return E.right({ events: [], tenant });
        if (claim !== null && !(await this.#isFree(claim.phoneNumberId, claim.since, origin, tenant)))
          return E.left(taken);
        return E.right({ events: [happened('PhoneNumberClaimed', { phoneNumberId })], tenant });
      },
    });
  }

  /** Whether a holder has no right any more; one that never began is closed first, so that it cannot begin late. */
  async #isFree(holderId: string, since: string, origin: Origin, tenant: Tenant): Promise<boolean> {
    const graceEnds = Date.parse(since) + claimGraceMilliseconds;
    for (;;) {
      const { state, revision } = await this.#handler.load(phoneNumber, holderId);
      if (revision >= 0) return !phoneNumber.isLive(state, holderId);
      if (Date.now() >= graceEnds) break;
      await sleep(pollMilliseconds);
    }
    const closed = await this.#handler.handle({
      entity: phoneNumber,
      id: holderId,
      origin,
      // The holder's creation may have its turn and wait for this claim's.
      outOfTurn: true,
      decide: ({ state }) =>
        E.right({ events: state === null ? [happened('PhoneNumberAbandoned', { id: holderId })] : [], tenant }),
    });
    return E.isRight(closed) && !phoneNumber.isLive(closed.right.stream.state, holderId);
  }
}

const taken = failure(
  'phone-number-taken',
  'Another phone number has this number. Delete that one first, or use another number.',
);
