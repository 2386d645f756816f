import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import { FairSlots, type FairSlotsLimits, type SlotRefusal } from '#shared/async/fair-slots.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/**
 * The limits of pages. A page that is being made takes some times its 2 MiB. Those of one project leave slots for
 * others, and share the processor with them.
 */
const pageLimits: FairSlotsLimits = {
  maxSlots: 16,
  maxSlotsOfOwner: 4,
  maxWaiting: 4_096,
  maxWaitingOfOwner: 512,
  maxWaitMs: 30_000,
};

/** The limits of parts of exports. Each open export has one part at most, so connections limit those that wait. */
const partLimits: FairSlotsLimits = { maxSlots: 8, maxSlotsOfOwner: 2, maxWaitMs: 60_000 };

/** The options of `PageMakers`. Each has a default. */
export interface PageMakersOptions {
  readonly pages?: FairSlotsLimits;
  readonly parts?: FairSlotsLimits;
  /**
   * Returns why nothing new may begin for a caller, because too many bytes of answers wait for their clients. It is
   * asked when a page's turn has come. Default: there is never a shortage.
   */
  readonly answerShortage?: (caller: Caller) => Failure | null;
}

/** Limits the answers from many documents that a node makes at once. Projects that wait are served in turn. */
export class PageMakers {
  readonly #pages: FairSlots;
  readonly #parts: FairSlots;
  readonly #answerShortage: (caller: Caller) => Failure | null;

  constructor({ pages = pageLimits, parts = partLimits, answerShortage = () => null }: PageMakersOptions = {}) {
    this.#pages = new FairSlots(pages);
    this.#parts = new FairSlots(parts);
    this.#answerShortage = answerShortage;
  }

  /**
   * Makes a page when it is the turn of the caller's project.
   * @returns too-many-calls if the project has too many, unavailable if the node has, or the shortage of answers
   */
  async make<Result>(
    caller: Caller,
    work: () => Promise<E.Either<Failure, Result>>,
  ): Promise<E.Either<Failure, Result>> {
    const leave = await this.#pages.enter(caller.projectId);
    if (typeof leave === 'string') return E.left(this.#refusal(caller.projectId, leave));
    try {
      const shortage = this.#answerShortage(caller);
      return shortage === null ? await work() : E.left(shortage);
    } finally {
      leave();
    }
  }

  /**
   * Makes each part of an export when it is the turn of the caller's project. An export that waits for its client has
   * no slot.
   * @throws UnavailableError if the turn does not come in time
   */
  async *exportInTurn<Part>({ projectId }: Caller, parts: AsyncIterable<Part>): AsyncGenerator<Part, void, void> {
    const iterator = parts[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#makePart(projectId, iterator);
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  async #makePart<Part>(projectId: string, parts: AsyncIterator<Part>): Promise<IteratorResult<Part>> {
    const leave = await this.#parts.enter(projectId);
    if (typeof leave === 'string') throw new UnavailableError('Too many exports are being made now.');
    try {
      return await parts.next();
    } finally {
      leave();
    }
  }

  #refusal(projectId: string, refusal: SlotRefusal): Failure {
    // A call that waited in vain while others of its project were served waited for these.
    const isOwnExcess = refusal === 'owner-waits' || (refusal === 'too-late' && this.#pages.callsOf(projectId) > 0);
    return isOwnExcess ? projectHasTooMany : nodeHasTooMany;
  }
}

const retryAfterSeconds = 1;

const projectHasTooMany = failure(
  'too-many-calls',
  'Too many lists, histories, dashboards and exports of this project are being made. Try again when some are answered.',
  { retryAfterSeconds },
);

const nodeHasTooMany = failure(
  'unavailable',
  'Too many lists, histories, dashboards and exports are being made. Try again later.',
  { retryAfterSeconds },
);
