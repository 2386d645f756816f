import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { exportInTurn, makePage } from '#application/queries/made-in-turn.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import type { FairSlotsLimits } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const one = new Held('cproject01');
const other = new Held('cproject02');
const withPages = (limits: FairSlotsLimits) => new Admission({ limits: { slots: { page: limits } } });
const withParts = (limits: FairSlotsLimits) => new Admission({ limits: { slots: { 'export part': limits } } });

/** A page that is made until `end` is called. */
function slowPage() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = async () => {
    await promise;
    return E.right('page');
  };
  return { work, end: resolve };
}

const codeOf = (answer: E.Either<Failure, unknown>) => (E.isLeft(answer) ? answer.left.code : 'made');

describe('pages in turn', () => {
  it('make the pages of projects in turn, with a limit for all together', async () => {
    const admission = withPages({ maxSlots: 1 });
    const first = slowPage();
    const order: string[] = [];
    const made = (name: string) => async () => {
      order.push(name);
      await nextTurn();
      return E.right(name);
    };
    const pages = [
      makePage(admission, one, first.work),
      makePage(admission, one, made('one a')),
      makePage(admission, one, made('one b')),
      makePage(admission, other, made('other')),
    ];
    first.end();
    await Promise.all(pages);
    assert.deepEqual(order, ['one a', 'other', 'one b']);
  });

  it('refuse a page whose turn does not come in time, as unavailable', async () => {
    const admission = withPages({ maxSlots: 1, maxWaitMs: 20 });
    const page = slowPage();
    const begun = makePage(admission, one, page.work);
    assert.equal(codeOf(await makePage(admission, other, page.work)), 'unavailable');
    page.end();
    assert.equal(codeOf(await begun), 'made');
  });

  it('leave the slot of a page that fails', async () => {
    const admission = withPages({ maxSlots: 1 });
    await assert.rejects(
      makePage(admission, one, async () => {
        throw new UnavailableError('The store is unavailable.');
      }),
      UnavailableError,
    );
    assert.equal(codeOf(await makePage(admission, other, async () => E.right('page'))), 'made');
  });
});

describe('exports in turn', () => {
  it('have no slot while their client is waited for', async () => {
    const admission = withParts({ maxSlots: 1, maxWaitMs: 20 });
    const parts = async function* () {
      yield 'a';
      yield 'b';
    };
    const unread = exportInTurn(admission, one, parts());
    assert.equal((await unread.next()).value, 'a');
    const read: string[] = [];
    for await (const part of exportInTurn(admission, one, parts())) read.push(part);
    assert.deepEqual(read, ['a', 'b']);
    await unread.return();
  });

  it('end when their turn does not come in time, and end their source', async () => {
    const admission = withParts({ maxSlots: 1, maxWaitMs: 20 });
    const held = Promise.withResolvers<void>();
    const slow = async function* () {
      await held.promise;
      yield 'late';
    };
    let isEnded = false;
    const waiting: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => assert.fail('A part is made without a turn.'),
        return: async () => {
          isEnded = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const begun = exportInTurn(admission, one, slow()).next();
    await assert.rejects(exportInTurn(admission, other, waiting).next(), UnavailableError);
    assert.equal(isEnded, true);
    held.resolve();
    assert.equal((await begun).value, 'late');
  });
});
