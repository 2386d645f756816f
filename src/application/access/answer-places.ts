import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { answerShortageFailure } from '#application/responses/answer-failures.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { FairSlots, type LeaveSlot } from '#shared/async/fair-slots.ts';
import type { ByteBudget } from './byte-budget.ts';

/** A list has up to 2 MiB, what a command answers less than 1 MiB. Commands wait longer for stores than queries do. */
const maxPlaces = { query: 16, command: 64 };
const waiting = { maxWaitingOfOwner: 1_000, maxWaitMs: 10_000 };

/**
 * Lets few answers of a project be made at once. Requests that begin together would otherwise all make theirs before the
 * first of them counts in the budget of answers.
 */
export class AnswerPlaces {
  readonly #answers: Pick<ByteBudget, 'fullFor'>;
  readonly #places = {
    query: new FairSlots({ ...waiting, maxSlotsOfOwner: maxPlaces.query }),
    command: new FairSlots({ ...waiting, maxSlotsOfOwner: maxPlaces.command }),
  };

  constructor(answers: Pick<ByteBudget, 'fullFor'>) {
    this.#answers = answers;
  }

  /**
   * Waits for a place of a project. The caller must leave it when its answer is written.
   * @returns why the answer may not be made: too many of the project wait, or too many bytes of answers do by now
   */
  async enter(projectId: string, kind: keyof typeof maxPlaces): Promise<E.Either<Failure, LeaveSlot>> {
    const leave = await this.#places[kind].enter(projectId);
    if (typeof leave === 'string') return E.left(answerShortageFailure('project'));
    const shortage = this.#answers.fullFor(projectId);
    if (shortage === null) return E.right(leave);
    // Otherwise all that wait would be refused in one turn of the event loop.
    await nextTurn();
    leave();
    return E.left(answerShortageFailure(shortage));
  }
}
