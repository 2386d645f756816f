import assert from 'node:assert/strict';
import { Attempt } from '#gateway/attempt/attempt.ts';
import type { BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { Deadline } from '#gateway/attempt/deadline.ts';

const timeouts = { connectMs: 1_000, headersMs: 1_000, firstContentMs: 1_000, idleMs: 20, totalMs: 1_000 };
const call = { abort: () => undefined, pause: () => undefined, resume: () => undefined };

describe('Attempt', () => {
  it('ends a refusal at its timeout, even if a piece of its body arrives at that moment', async () => {
    const attempt = new Attempt(timeouts, () => assert.fail('a refusal has no consumer'));
    attempt.start({ call: () => call, close: async () => undefined }, { body: null } as never);
    attempt.onSent();
    attempt.onHeaders(503, {});
    // Deadlines fire in the order in which they were set, so this piece arrives after the timeout has fired.
    new Deadline(() => attempt.onData(Buffer.from('{'))).set(timeouts.idleMs);
    const outcome = await attempt.outcome;
    assert.ok(outcome.kind === 'failed' && outcome.failure.kind === 'refused', JSON.stringify(outcome));
  });

  describe('when the code that reads an answer throws', () => {
    const thrown = new RangeError('Maximum call stack size exceeded');
    const fail = () => {
      throw thrown;
    };
    const consumer: BodyConsumer = { onData: () => undefined, onEnd: () => undefined };
    const broken: Readonly<Record<string, () => BodyConsumer>> = {
      'its beginning': fail,
      'a piece': () => ({ ...consumer, onData: fail }),
      'its end': () => ({ ...consumer, onEnd: fail }),
      'its failure': () => ({ ...consumer, onEnd: fail, onAbort: fail }),
    };
    for (const [what, makeConsumer] of Object.entries(broken)) {
      it(`fails alone at ${what}`, async () => {
        const attempt = new Attempt(timeouts, makeConsumer);
        attempt.start({ call: () => call, close: async () => undefined }, { body: null } as never);
        attempt.onSent();
        attempt.onHeaders(200, {});
        attempt.onData(Buffer.from('{}'));
        attempt.onEnd();
        assert.deepEqual(await attempt.outcome, {
          kind: 'failed',
          failure: { kind: 'broken', how: 'malformed', thrown },
        });
      });
    }
  });
});
