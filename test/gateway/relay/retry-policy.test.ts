import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { AttemptFailure, ProviderRefusal } from '#gateway/attempt/attempt-failure.ts';
import { countsAgainst, isLeftToClient, nextStep, type RetryState } from '#gateway/relay/retry-policy.ts';

const first: RetryState = { triesHere: 1, retries: 2, retryAfterMaxMs: 2_000, hasOther: true, remainingMs: 60_000 };
const alone: RetryState = { ...first, hasOther: false };

const refused = (status: number, more: Partial<ProviderRefusal> = {}): AttemptFailure => ({
  kind: 'refused',
  status,
  error: null,
  body: Buffer.alloc(0),
  retryAfterMs: null,
  shouldRetry: null,
  requestId: null,
  ...more,
});
const saying = (status: number, code: string | null, message = '') =>
  refused(status, { error: { message, code, type: null, param: null } });

const kinds = (failure: AttemptFailure) =>
  [first, alone].map((standing) => nextStep(failure, standing, 0.5).kind).join(', ');

describe('nextStep', () => {
  it('never retries a target after a timeout, and gives up when the time of the call is over', () => {
    for (const limit of ['connect', 'headers', 'firstContent', 'idle'] as const)
      assert.equal(kinds({ kind: 'limit', limit }), 'other, give-up');
    assert.equal(kinds({ kind: 'limit', limit: 'total' }), 'give-up, give-up');
  });

  it('retries the same target when a retry may help', () => {
    for (const how of ['unreachable', 'reset', 'malformed', 'unfinished'] as const)
      assert.equal(kinds({ kind: 'broken', how }), 'again, again');
    for (const status of [500, 502, 503, 529, 429, 408, 409, 425]) assert.equal(kinds(refused(status)), 'again, again');
  });

  it('gives up when the request is at fault, and calls another target when the request is too long or the operator is at fault', () => {
    for (const status of [400, 404, 413, 415, 422]) assert.equal(kinds(refused(status)), 'give-up, give-up');
    assert.equal(kinds(saying(400, 'content_policy_violation')), 'give-up, give-up');
    assert.equal(kinds(saying(403, 'content_filter')), 'give-up, give-up');
    assert.equal(kinds(saying(400, 'context_length_exceeded')), 'other, give-up');
    assert.equal(kinds(saying(400, null, "This model's maximum context length is 8192 tokens")), 'other, give-up');
    for (const status of [401, 403]) assert.equal(kinds(refused(status)), 'other, give-up');
  });

  it('calls another target when all retries are used or the provider forbids a retry', () => {
    const last = { ...first, triesHere: 3 };
    assert.equal(nextStep(refused(500), last, 0).kind, 'other');
    assert.equal(nextStep(refused(500), { ...last, hasOther: false }, 0).kind, 'give-up');
    assert.equal(kinds(refused(503, { shouldRetry: 'false' })), 'other, give-up');
  });

  it('waits longer before each retry, with jitter, and never longer than there is time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.double({ min: 0, max: 1, noNaN: true }), (triesHere, random) => {
        const step = nextStep(refused(500), { ...alone, triesHere, retries: 10 }, random);
        assert.ok(step.kind === 'again');
        const most = Math.min(4_000, 200 * 2 ** (triesHere - 1));
        assert.ok(step.afterMs >= most / 2 && step.afterMs <= most, String(step.afterMs));
      }),
    );
    assert.equal(nextStep(refused(500), { ...alone, remainingMs: 50 }, 0).kind, 'give-up');
  });

  it('never retries earlier than requested, calls another target instead of a long wait, and leaves a very long wait to the client', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 15_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (asked, random) => {
        const step = nextStep(refused(429, { retryAfterMs: asked }), alone, random);
        assert.ok(step.kind === 'again' && step.afterMs >= asked && step.afterMs <= asked + 250);
      }),
    );
    assert.equal(nextStep(refused(429, { retryAfterMs: 5_000 }), first, 0).kind, 'other');
    assert.equal(nextStep(refused(429, { retryAfterMs: 2_000 }), first, 0).kind, 'again');
    assert.equal(nextStep(refused(429, { retryAfterMs: 2_001 }), first, 0).kind, 'other');
    assert.equal(nextStep(refused(429, { retryAfterMs: 2_000 }), { ...first, retries: 0 }, 0).kind, 'other');
    assert.equal(nextStep(refused(429, { retryAfterMs: 1 }), { ...first, retryAfterMaxMs: 0 }, 0).kind, 'other');
    assert.equal(nextStep(refused(429, { retryAfterMs: 0 }), { ...first, retryAfterMaxMs: 0 }, 0).kind, 'again');
    assert.equal(nextStep(refused(429, { retryAfterMs: 16_000 }), alone, 0).kind, 'give-up');
    assert.equal(nextStep(refused(429, { retryAfterMs: 5_000 }), { ...alone, remainingMs: 4_000 }, 0).kind, 'give-up');
  });

  it('calls another target, or gives up, after an answer that is too large', () => {
    assert.equal(kinds({ kind: 'broken', how: 'too-large' }), 'other, give-up');
  });

  it('counts a failure against the target only when the target failed, not the request', () => {
    for (const failure of [
      refused(500),
      refused(401),
      { kind: 'broken', how: 'reset' },
      { kind: 'limit', limit: 'idle' },
    ])
      assert.equal(countsAgainst(failure as AttemptFailure), true);
    for (const failure of [
      refused(400),
      refused(429),
      saying(400, 'context_length_exceeded'),
      { kind: 'limit', limit: 'total' },
      { kind: 'broken', how: 'too-large' },
    ])
      assert.equal(countsAgainst(failure as AttemptFailure), false);
  });
});

describe('isLeftToClient', () => {
  const left = (failure: AttemptFailure) => [true, false].map((mayRetry) => isLeftToClient(failure, mayRetry));

  it('leaves no retry to the client after a timeout, even if the gateway was not allowed to retry', () => {
    for (const limit of ['connect', 'headers', 'firstContent', 'idle', 'total'] as const)
      assert.deepEqual(left({ kind: 'limit', limit }), [false, false], limit);
  });

  it('leaves a broken connection to the client only if the gateway was not allowed to retry', () => {
    for (const how of ['unreachable', 'reset', 'malformed', 'unfinished'] as const)
      assert.deepEqual(left({ kind: 'broken', how }), [false, true], how);
    assert.deepEqual(left({ kind: 'broken', how: 'too-large' }), [false, false]);
  });

  it('leaves a faulty request to the client, and no fault of the operator and no text that is too long', () => {
    assert.deepEqual(left(refused(400)), [true, true]);
    assert.deepEqual(left(refused(401)), [false, false]);
    assert.deepEqual(left(saying(400, 'context_length_exceeded')), [false, false]);
  });

  it('leaves a failing target to the client without retries, and a wait that is too long in any case', () => {
    for (const status of [429, 500, 503]) assert.deepEqual(left(refused(status)), [false, true], String(status));
    assert.deepEqual(left(refused(429, { retryAfterMs: 15_000 })), [false, true]);
    assert.deepEqual(left(refused(429, { retryAfterMs: 15_001 })), [true, true]);
  });
});
