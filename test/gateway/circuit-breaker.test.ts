import assert from 'node:assert/strict';
import { CircuitBreaker } from '../../src/gateway/circuit-breaker.ts';

describe('circuit breaker', () => {
  let now = 0;
  let breaker: CircuitBreaker;
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) breaker.failed('a/x', now);
  };

  beforeEach(() => {
    now = 1_000;
    breaker = new CircuitBreaker(() => now);
  });

  it('rests a target after five failures in a row, and no other one', () => {
    fail(4);
    assert.equal(breaker.enter('a/x'), true);
    fail(1);
    assert.equal(breaker.enter('a/x'), false);
    assert.equal(breaker.enter('b/y'), true);
  });

  it('begins to count anew with a success', () => {
    fail(4);
    breaker.succeeded('a/x', now);
    fail(4);
    assert.equal(breaker.enter('a/x'), true);
  });

  it('tries a rested target with one call at a time, soon and again, whatever became of the one before', () => {
    fail(5);
    now += 1_500;
    assert.equal(breaker.enter('a/x'), true);
    assert.equal(breaker.enter('a/x'), false, 'one call at a time');
    now += 1_500;
    assert.equal(breaker.enter('a/x'), true, 'the one before may hang');
  });

  it('asks a target again once it answers, and rests it again with the next failure', () => {
    fail(5);
    now += 1_500;
    assert.equal(breaker.enter('a/x'), true);
    breaker.answered('a/x', now);
    assert.equal(breaker.enter('a/x'), true);
    fail(1);
    assert.equal(breaker.enter('a/x'), false);
  });

  it('is not put off by the failures of calls that hung together', () => {
    fail(5);
    now += 1_000;
    fail(5);
    now += 500;
    assert.equal(breaker.enter('a/x'), true);
  });

  it('takes no notice of a failure of what began before a call that was answered', () => {
    const before = now;
    fail(5);
    now += 1_500;
    breaker.enter('a/x');
    breaker.answered('a/x', now);
    breaker.failed('a/x', before);
    assert.equal(breaker.enter('a/x'), true);
    breaker.succeeded('a/x', now);
    for (let time = 0; time < 5; time += 1) breaker.failed('a/x', before);
    assert.equal(breaker.enter('a/x'), true);
  });

  it('rests a target that asks to be left alone, for as long', () => {
    breaker.rest('a/x', 10_000);
    now += 9_999;
    assert.equal(breaker.enter('a/x'), false);
    now += 1;
    assert.equal(breaker.enter('a/x'), true);
  });

  it('forgets targets that are gone', () => {
    fail(5);
    breaker.keepOnly(new Set(['b/y']));
    assert.equal(breaker.enter('a/x'), true);
  });
});
