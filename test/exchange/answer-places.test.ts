import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { AnswerPlaces, ByteBudget } from '#exchange/byte-budget.ts';

const limits = { maxBytesPerProject: 100, maxBytes: 150 };

describe('AnswerPlaces', () => {
  let budget: ByteBudget;
  let places: AnswerPlaces;

  beforeEach(() => {
    budget = new ByteBudget(limits);
    places = new AnswerPlaces(budget);
  });

  type Place = Awaited<ReturnType<AnswerPlaces['enter']>>;
  const codeOf = (place: Place) => (E.isLeft(place) ? place.left.code : 'a place');
  const leave = (place: Place) => (E.isRight(place) ? place.right() : assert.fail(place.left.code));
  const enterAll = (count: number, kind: 'query' | 'command') =>
    Promise.all(Array.from({ length: count }, () => places.enter('one', kind)));

  for (const [kind, count] of [
    ['query', 16],
    ['command', 64],
  ] as const) {
    it(`gives a project ${count} places of a ${kind}, and the next when one of them is left`, async () => {
      const taken = await enterAll(count, kind);
      let isIn = false;
      const next = places.enter('one', kind).then((place) => {
        isIn = true;
        return place;
      });
      leave(await places.enter('two', kind));
      assert.equal(isIn, false);
      leave(taken[0] as Place);
      assert.equal(codeOf(await next), 'a place');
    });
  }

  it('looks at the bounds of answers again when a place is free', async () => {
    const taken = await enterAll(16, 'query');
    const waiting = [places.enter('one', 'query'), places.enter('one', 'query')];
    budget.hold('one').resize(100);
    leave(taken[0] as Place);
    assert.deepEqual((await Promise.all(waiting)).map(codeOf), ['too-many-answer-bytes', 'too-many-answer-bytes']);
    budget.hold('two').resize(50);
    assert.equal(codeOf(await places.enter('three', 'command')), 'answers-full');
  });
});
