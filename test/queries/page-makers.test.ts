import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { PageMakers } from '#application/queries/page-makers.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callerOf } from '#test/support/events/tenants.ts';

const callerIn = (projectId: string) => ({ ...callerOf('project'), projectId });
const one = callerIn('cproject01');
const other = callerIn('cproject02');

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

describe('page makers', () => {
  it('make the pages of projects in turn, with a limit for all together', async () => {
    const makers = new PageMakers({ pages: { maxSlots: 1 } });
    const first = slowPage();
    const order: string[] = [];
    const made = (name: string) => async () => {
      order.push(name);
      await nextTurn();
      return E.right(name);
    };
    const pages = [
      makers.make(one, first.work),
      makers.make(one, made('one a')),
      makers.make(one, made('one b')),
      makers.make(other, made('other')),
    ];
    first.end();
    await Promise.all(pages);
    assert.deepEqual(order, ['one a', 'other', 'one b']);
  });

  it('refuse a page whose turn does not come in time, as unavailable', async () => {
    const makers = new PageMakers({ pages: { maxSlots: 1, maxWaitMs: 20 } });
    const page = slowPage();
    const begun = makers.make(one, page.work);
    assert.equal(codeOf(await makers.make(other, page.work)), 'unavailable');
    page.end();
    assert.equal(codeOf(await begun), 'made');
  });

  it('leave the slot of a page that fails', async () => {
    const makers = new PageMakers({ pages: { maxSlots: 1 } });
    await assert.rejects(
      makers.make(one, async () => {
        throw new UnavailableError('The store is unavailable.');
      }),
      UnavailableError,
    );
    assert.equal(codeOf(await makers.make(other, async () => E.right('page'))), 'made');
  });
});

describe('exports in turn', () => {
  it('have no slot while their client is waited for', async () => {
    const makers = new PageMakers({ parts: { maxSlots: 1, maxWaitMs: 20 } });
    const parts = async function* () {
      yield 'a';
      yield 'b';
    };
    const unread = makers.exportInTurn(one, parts());
    assert.equal((await unread.next()).value, 'a');
    const read: string[] = [];
    for await (const part of makers.exportInTurn(one, parts())) read.push(part);
    assert.deepEqual(read, ['a', 'b']);
    await unread.return();
  });

  it('end when their turn does not come in time, and end their source', async () => {
    const makers = new PageMakers({ parts: { maxSlots: 1, maxWaitMs: 20 } });
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
    const begun = makers.exportInTurn(one, slow()).next();
    await assert.rejects(makers.exportInTurn(other, waiting).next(), UnavailableError);
    assert.equal(isEnded, true);
    held.resolve();
    assert.equal((await begun).value, 'late');
  });
});
