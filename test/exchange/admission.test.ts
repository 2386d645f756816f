import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';

const limits = { maxBytesPerProject: 100, maxBytes: 150 };

describe('Admission', () => {
  it('gives a slot back when its holder is released, and only once', async () => {
    const admission = new Admission({ limits: { slots: { page: { maxSlots: 1 } } } });
    const [held, next] = [new Held('one'), new Held('two')];
    const leave = await admission.slot(held, 'page');
    const waiting = admission.slot(next, 'page');
    assert.deepEqual([admission.figures().page.taken, admission.figures().page.waiting], [1, 1]);
    held.release();
    assert.ok(E.isRight(await waiting));
    assert.ok(E.isRight(leave));
    leave.right();
    assert.equal(admission.figures().page.taken, 1);
    next.release();
    assert.equal(admission.figures().page.taken, 0);
  });

  it('takes no slot for a holder that was released while it waited', async () => {
    const admission = new Admission({ limits: { slots: { page: { maxSlots: 1 } } } });
    const [held, gone] = [new Held('one'), new Held('two')];
    await admission.slot(held, 'page');
    const waiting = admission.slot(gone, 'page');
    gone.release();
    held.release();
    await waiting;
    assert.equal(admission.figures().page.taken, 0);
  });

  it('limits each partner for itself where the table says so, and remembers none that has nothing', async () => {
    const admission = new Admission({ limits: { slots: { 'endpoint creation': { maxWaitingOfOwner: 0 } } } });
    const create = (group: string) => admission.slot(new Held('one'), 'endpoint creation', { owner: 'one', group });
    const first = await create('partner1');
    assert.ok(E.isRight(first) && E.isLeft(await create('partner1')) && E.isRight(await create('partner2')));
    first.right();
    assert.ok(E.isRight(await create('partner1')));
    const { taken, refused, limit } = admission.figures()['endpoint creation'];
    assert.deepEqual([taken, refused, limit], [2, 1, null]);
  });
});

describe('places for answers', () => {
  let admission: Admission;

  beforeEach(() => {
    admission = new Admission({ limits: { bytes: { answer: limits } } });
  });

  type Place = Awaited<ReturnType<Admission['slot']>>;
  type Kind = 'query' | 'command';
  const enter = (project: string, kind: Kind) => admission.slot(new Held(project), `${kind} answer`);
  const codeOf = (place: Place) => (E.isLeft(place) ? place.left.code : 'a place');
  const leave = (place: Place) => (E.isRight(place) ? place.right() : assert.fail(place.left.code));
  const enterAll = (count: number, kind: Kind) => Promise.all(Array.from({ length: count }, () => enter('one', kind)));

  for (const [kind, count] of [
    ['query', 16],
    ['command', 64],
  ] as const) {
    it(`gives a project ${count} places of a ${kind}, and the next when one of them is left`, async () => {
      const taken = await enterAll(count, kind);
      let isIn = false;
      const next = enter('one', kind).then((place) => {
        isIn = true;
        return place;
      });
      leave(await enter('two', kind));
      assert.equal(isIn, false);
      leave(taken[0] as Place);
      assert.equal(codeOf(await next), 'a place');
    });
  }

  it('looks at the bounds of answers again when a place is free', async () => {
    const taken = await enterAll(16, 'query');
    const waiting = [enter('one', 'query'), enter('one', 'query')];
    admission.budgets.answer.hold('one').resize(100);
    leave(taken[0] as Place);
    assert.deepEqual((await Promise.all(waiting)).map(codeOf), ['too-many-answer-bytes', 'too-many-answer-bytes']);
    admission.budgets.answer.hold('two').resize(50);
    assert.equal(codeOf(await enter('three', 'command')), 'answers-full');
  });
});
