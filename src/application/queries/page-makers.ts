import * as E from 'fp-ts/lib/Either.js';
import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { FairSlots, type FairSlotsLimits } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/**
 * The limits of pages. A page that is being made takes some times its 2 MiB. Those of one project leave slots for
 * others, and share the processor with them. `AnswerPlaces` limits the pages of a project that wait.
 */
const pageLimits: FairSlotsLimits = { maxSlots: 16, maxSlotsOfOwner: 4, maxWaitMs: 30_000 };

/** The limits of parts of exports. Each open export has one part at most, so connections limit those that wait. */
const partLimits: FairSlotsLimits = { maxSlots: 8, maxSlotsOfOwner: 2, maxWaitMs: 60_000 };

/** The options of `PageMakers`. Each has a default. */
export interface PageMakersOptions {
  readonly pages?: FairSlotsLimits;
  readonly parts?: FairSlotsLimits;
}

/** Limits the answers from many documents that a node makes at once. Projects that wait are served in turn. */
export class PageMakers {
  readonly #pages: FairSlots;
  readonly #parts: FairSlots;

  constructor({ pages = pageLimits, parts = partLimits }: PageMakersOptions = {}) {
    this.#pages = new FairSlots(pages);
    this.#parts = new FairSlots(parts);
  }

  /**
   * Makes a page when it is the turn of the caller's project.
   * @returns unavailable if the turn does not come in time
   */
  async make<Result>(
    { projectId }: Caller,
    work: () => Promise<E.Either<Failure, Result>>,
  ): Promise<E.Either<Failure, Result>> {
    const leave = await this.#pages.enter(projectId);
    if (typeof leave === 'string') return E.left(tooManyPages);
    try {
      return await work();
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
}

const tooManyPages = failure(
  'unavailable',
  'Too many lists, histories, dashboards and exports are being made. Try again later.',
  { retryAfterSeconds: 1 },
);
