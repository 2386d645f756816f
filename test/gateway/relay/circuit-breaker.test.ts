import assert from 'node:assert/strict';
import { CircuitBreaker } from '#gateway/health/circuit-breaker.ts';

describe('CircuitBreaker', () => {
  let now = 0;
  let breaker: CircuitBreaker;
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) breaker.recordFailure('a/x', now);
  };
  /** Two calls, of which the second fails. */
  const failHalf = (pairs: number, isLast = false) => {
    for (let pair = 0; pair < pairs; pair += 1) {
      breaker.recordSuccess('a/x', now);
      breaker.recordFailure('a/x', now, isLast);
    }
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

  it('lets one call in each period through an open circuit out of turn', () => {
    assert.deepEqual([breaker.tryOutOfTurn('a/x'), breaker.tryOutOfTurn('a/x')], [true, true], 'a closed one');
    fail(5);
    assert.deepEqual([breaker.tryOutOfTurn('a/x'), breaker.tryOutOfTurn('a/x')], [true, false]);
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true);
    assert.equal(breaker.tryOutOfTurn('a/x'), false, 'the try of the half-open circuit counts');
    now += 1_500;
    assert.equal(breaker.tryOutOfTurn('a/x'), true);
    breaker.release('a/x', 0);
    assert.equal(breaker.tryAcquire('a/x'), true, 'its own turn stays');
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

  it('does not keep a circuit open for the failures of calls that hung at the same time', () => {
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

  it('opens the circuit when half of at least twenty calls have failed, although never five in a row', () => {
    failHalf(9);
    breaker.recordSuccess('a/x', now);
    assert.equal(breaker.tryAcquire('a/x'), true, 'nineteen calls');
    fail(1);
    assert.equal(breaker.state('a/x'), 'open');
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true, 'it becomes half-open as after five failures');
  });

  it('keeps the circuit closed while fewer than half of the calls fail', () => {
    for (let call = 0; call < 100; call += 1) {
      breaker.recordSuccess('a/x', now);
      if (call % 5 < 4) fail(1);
    }
    assert.equal(breaker.state('a/x'), 'closed');
  });

  it('forgets calls after a minute, and remembers them for at least half a minute', () => {
    failHalf(9);
    breaker.recordSuccess('a/x', now);
    now += 29_999;
    fail(1);
    assert.equal(breaker.state('a/x'), 'open');

    breaker = new CircuitBreaker(() => now);
    failHalf(9);
    breaker.recordSuccess('a/x', now);
    now += 60_000;
    fail(1);
    assert.equal(breaker.state('a/x'), 'closed');
  });

  it('counts a call that began before a later successful one', () => {
    const before = now;
    now += 10;
    for (let call = 0; call < 10; call += 1) breaker.recordSuccess('a/x', now);
    for (let call = 0; call < 9; call += 1) breaker.recordFailure('a/x', before);
    assert.equal(breaker.state('a/x'), 'closed');
    breaker.recordFailure('a/x', before);
    assert.equal(breaker.state('a/x'), 'open');
  });

  it('ignores the failures of calls that began before the circuit was closed again', () => {
    const before = now;
    fail(30);
    now += 1_500;
    breaker.tryAcquire('a/x');
    breaker.recordSuccess('a/x', now);
    for (let call = 0; call < 30; call += 1) breaker.recordFailure('a/x', before);
    assert.equal(breaker.state('a/x'), 'closed');
  });

  it('never opens the circuit of the last target that is left because half of its calls fail', () => {
    failHalf(50, true);
    assert.equal(breaker.state('a/x'), 'closed');
  });

  it('lets another call try a target immediately when the one that tried it was abandoned', () => {
    fail(5);
    now += 1_500;
    assert.equal(breaker.tryAcquire('a/x'), true);
    breaker.release('a/x', breaker.openUntil('a/x'));
    assert.equal(breaker.tryAcquire('a/x'), true);
    assert.equal(breaker.tryAcquire('a/x'), false);
  });

  it('does not let another call try a target when an abandoned one tried it in an earlier period', () => {
    fail(5);
    now += 1_500;
    breaker.tryAcquire('a/x');
    const earlier = breaker.openUntil('a/x');
    now += 1_500;
    breaker.tryAcquire('a/x');
    breaker.release('a/x', earlier);
    assert.equal(breaker.tryAcquire('a/x'), false, 'the later call still tries it');
    fail(1);
    breaker.release('a/x', breaker.openUntil('a/x'));
    assert.equal(breaker.tryAcquire('a/x'), false, 'it has failed');
  });

  it('forgets targets that no longer exist', () => {
    fail(5);
    breaker.keepOnly(new Set(['b/y']));
    assert.equal(breaker.tryAcquire('a/x'), true);
  });
});
