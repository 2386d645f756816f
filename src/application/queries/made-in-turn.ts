import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import type { Admission, Holder } from '#exchange/admission.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

type Slots = Pick<Admission, 'slot'>;

/** Makes a page when it is the turn of its project. @returns unavailable if the turn does not come in time */
export async function makePage<Result>(
  admission: Slots,
  held: Holder,
  work: () => Promise<E.Either<Failure, Result>>,
): Promise<E.Either<Failure, Result>> {
  const leave = await admission.slot(held, 'page');
  if (E.isLeft(leave)) return leave;
  try {
    return await work();
  } finally {
    leave.right();
  }
}

/**
 * Makes each part when it is the turn of its project. An export that waits for its client has no slot.
 * @throws UnavailableError if the turn does not come in time
 */
export async function* exportInTurn<Part>(
  admission: Slots,
  held: Holder,
  parts: AsyncIterable<Part>,
): AsyncGenerator<Part, void, void> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await makePart(admission, held, iterator);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

async function makePart<Part>(
  admission: Slots,
  held: Holder,
  parts: AsyncIterator<Part>,
): Promise<IteratorResult<Part>> {
  const leave = await admission.slot(held, 'export part');
  if (E.isLeft(leave)) throw new UnavailableError(leave.left.detail);
  try {
    return await parts.next();
  } finally {
    leave.right();
  }
}
