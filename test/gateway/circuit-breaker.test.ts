import assert from 'node:assert/strict';
import { CircuitBreaker } from '../../src/gateway/circuit-breaker.ts';

describe('circuit breaker', () => {
  let now = 0;
  let breaker: CircuitBreaker;
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) breaker.recordFailure('a/x', now);
  };

  beforeEach(() => {
    now = 1_000;
    breaker = new CircuitBreaker(() => now);
  });

  it('rests a target after five failures in a row, and no other one', () => {
    fail(4);
    assert.equal(breaker.tryAcquire('a/x'), true);
    fail(1);
    assert.equal(breaker.tryAcquire('a/x'), false);
    assert.equal(breaker.tryAcquire('b/y'), true);
  });

  it('begins to count anew with a success', () => {
    fail(4);
    breaker.recordSuccess('a/x', now);
    fail(4);
    assert.equal(breaker.tryAcquire('a/x'), true);
  });

  it('tries a rested target with one call at a time, soon and again, whatever became of the one before', () => {
    fail(5);
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true);
    assert.equal(breaker.tryAcquire('a/x'), false, 'one call at a time');
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true, 'the one before may hang');
  });

  it('asks a target again once it answers, and rests it again with the next failure', () => {
    fail(5);
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true);
    breaker.recordContent('a/x', now);
    assert.equal(breaker.tryAcquire('a/x'), true);
    fail(1);
    assert.equal(breaker.tryAcquire('a/x'), false);
  });

  it('is not put off by the failures of calls that hung together', () => {
    fail(5);
    now += 1_000;
    fail(5);
    now += 500;
    assert.equal(breaker.tryAcquire('a/x'), true);
  });

  it('takes no notice of a failure of what began before a call that was answered', () => {
    const before = now;
    fail(5);
    now += 1_500;
    breaker.tryAcquire('a/x');
    breaker.recordContent('a/x', now);
    breaker.recordFailure('a/x', before);
    assert.equal(breaker.tryAcquire('a/x'), true);
    breaker.recordSuccess('a/x', now);
    for (let time = 0; time < 5; time += 1) breaker.recordFailure('a/x', before);
    assert.equal(breaker.tryAcquire('a/x'), true);
  });

  it('rests a target that asks to be left alone, for as long', () => {
    breaker.open('a/x', 10_000);
    now += 9_999;
    assert.equal(breaker.tryAcquire('a/x'), false);
    now += 1;
    assert.equal(breaker.tryAcquire('a/x'), true);
  });

  it('forgets targets that are gone', () => {
    fail(5);
    breaker.keepOnly(new Set(['b/y']));
    assert.equal(breaker.tryAcquire('a/x'), true);
  });
});
