import assert from 'node:assert/strict';
import { CircuitBreaker } from '#gateway/relay/circuit-breaker.ts';

describe('CircuitBreaker', () => {
  let now = 0;
  let breaker: CircuitBreaker;
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) breaker.recordFailure('a/x', now);
  };

  beforeEach(() => {
    now = 1_000;
    breaker = new CircuitBreaker(() => now);
  });

  it('opens the circuit of a target after five failures in a row, and no other', () => {
    fail(4);
    assert.equal(breaker.tryAcquire('a/x'), true);
    fail(1);
    assert.equal(breaker.tryAcquire('a/x'), false);
    assert.equal(breaker.tryAcquire('b/y'), true);
  });

  it('starts to count failures again after a success', () => {
    fail(4);
    breaker.recordSuccess('a/x', now);
    fail(4);
    assert.equal(breaker.tryAcquire('a/x'), true);
  });

  it('lets one call at a time through a half-open circuit, even if an earlier call has not ended', () => {
    fail(5);
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true);
    assert.equal(breaker.tryAcquire('a/x'), false, 'one call at a time');
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true, 'the one before may hang');
  });

  it('closes the circuit with the first content, and opens it again with the next failure', () => {
    fail(5);
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true);
    breaker.recordContent('a/x', now);
    assert.equal(breaker.tryAcquire('a/x'), true);
    fail(1);
    assert.equal(breaker.tryAcquire('a/x'), false);
  });

  it('does not keep a circuit open for the failures of calls that hung at once', () => {
    fail(5);
    now += 1_000;
    fail(5);
    now += 500;
    assert.equal(breaker.tryAcquire('a/x'), true);
  });

  it('ignores a failed attempt that began before a successful one', () => {
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

  it('opens the circuit of a target that asks for it, for as long as it asks', () => {
    breaker.open('a/x', 10_000);
    now += 9_999;
    assert.equal(breaker.tryAcquire('a/x'), false);
    now += 1;
    assert.equal(breaker.tryAcquire('a/x'), true);
  });

  it('forgets targets that no longer exist', () => {
    fail(5);
    breaker.keepOnly(new Set(['b/y']));
    assert.equal(breaker.tryAcquire('a/x'), true);
  });
});
