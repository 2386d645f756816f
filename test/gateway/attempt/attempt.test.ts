import assert from 'node:assert/strict';
import { Attempt, type AttemptOutcome } from '#gateway/attempt/attempt.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { Deadline } from '#gateway/attempt/deadline.ts';
import { movedTime } from '#test/gateway/support/moved-time.ts';

const timeouts = { connectMs: 1_000, headersMs: 1_000, firstContentMs: 1_000, firstPartMs: 3_000, idleMs: 20 };
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

  it('reports the first content as it arrives, and no later one', () => {
    let contents = 0;
    const consumer = (control: AttemptControl): BodyConsumer => ({
      onData: () => control.markContent(),
      onEnd: () => control.complete(),
    });
    const attempt = new Attempt(
      timeouts,
      (_status, _headers, control) => consumer(control),
      () => (contents += 1),
    );
    attempt.start({ call: () => call, close: async () => undefined }, { body: null } as never);
    attempt.onSent();
    attempt.onHeaders(200, {});
    assert.equal(contents, 0);
    attempt.onData(Buffer.from('a'));
    assert.equal(contents, 1);
    attempt.onData(Buffer.from('b'));
    attempt.onEnd();
    assert.equal(contents, 1);
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

  describe('while it waits for the first content', () => {
    const time = movedTime();
    const minute = 60_000;
    const waits = {
      ...timeouts,
      headersMs: minute,
      firstContentMs: minute,
      firstPartMs: 3 * minute,
      idleMs: 2 * minute,
    };

    /** An attempt whose target has answered 200 after 10 s. */
    const begin = async () => {
      const { promise, resolve } = Promise.withResolvers<AttemptControl>();
      const attempt = new Attempt(waits, (_status, _headers, control) => {
        resolve(control);
        return { onData: () => undefined, onEnd: () => undefined };
      });
      attempt.start({ call: () => call, close: async () => undefined }, { body: null } as never);
      attempt.onSent();
      await time.pass(10_000);
      attempt.onHeaders(200, {});
      let outcome: AttemptOutcome | null = null;
      void attempt.outcome.then((ended) => {
        outcome = ended;
      });
      const isOver = () => outcome !== null;
      return { attempt, control: await promise, isOver };
    };
    const outOfTime = { kind: 'failed', failure: { kind: 'limit', limit: 'firstContent' } };

    it('ends a mute target after its time from the request on, whatever has arrived that says nothing', async () => {
      const { attempt, isOver } = await begin();
      await time.pass(49_000);
      attempt.onData(Buffer.from(':'));
      assert.equal(isOver(), false);
      await time.pass(1_001);
      assert.deepEqual(await attempt.outcome, outOfTime);
    });

    it('waits three times as long for a target that shows signs of life', async () => {
      const { attempt, control, isOver } = await begin();
      for (let seconds = 10; seconds < 175; seconds += 5) {
        control.markAlive(false);
        await time.pass(5_000);
      }
      control.markAlive(false);
      assert.equal(isOver(), false);
      await time.pass(5_000);
      assert.deepEqual(await attempt.outcome, outOfTime);
    });

    it('waits no longer than for a mute target after the last sign of life', async () => {
      const { attempt, control, isOver } = await begin();
      control.markAlive(false);
      await time.pass(59_000);
      assert.equal(isOver(), false);
      await time.pass(1_001);
      assert.deepEqual(await attempt.outcome, outOfTime);
    });

    it('restarts the wait at each sign of life once a part has begun', async () => {
      const { attempt, control, isOver } = await begin();
      control.markAlive(true);
      for (let minutes = 0; minutes < 20; minutes += 1) {
        await time.pass(59_000);
        control.markAlive(false);
      }
      assert.equal(isOver(), false);
      await time.pass(minute);
      assert.deepEqual(await attempt.outcome, outOfTime);
    });

    it('waits for content also after a pause, which does not count', async () => {
      const { attempt, control, isOver } = await begin();
      control.pause();
      await time.pass(2 * minute);
      assert.equal(isOver(), false);
      control.resume();
      await time.pass(59_000);
      // Data without content does not extend the wait.
      attempt.onData(Buffer.from(':'));
      await time.pass(1_001);
      assert.deepEqual(await attempt.outcome, outOfTime);
    });

    it('ends three times the wait on time, however fast the signs of life come', async () => {
      const { attempt, control, isOver } = await begin();
      let isSending = true;
      const send = () => {
        control.markAlive(false);
        if (isSending) setImmediate(send);
      };
      send();
      for (let seconds = 10; seconds < 170; seconds += 40) await time.pass(40_000);
      assert.equal(isOver(), false);
      await time.pass(10_001);
      isSending = false;
      assert.equal(isOver(), true);
      assert.deepEqual(await attempt.outcome, outOfTime);
    });

    it('ends three times the wait on time, also if the target was not read for a while', async () => {
      const { attempt, control, isOver } = await begin();
      control.markAlive(false);
      control.pause();
      await time.pass(170_001);
      assert.equal(isOver(), false);
      control.resume();
      control.pause();
      await time.pass(0);
      assert.equal(isOver(), true);
      assert.deepEqual(await attempt.outcome, outOfTime);
    });

    it('takes no sign of life for content once the content has come', async () => {
      const { attempt, control, isOver } = await begin();
      control.markContent();
      await time.pass(119_000);
      control.markAlive(true);
      assert.equal(isOver(), false);
      await time.pass(1_001);
      assert.deepEqual(await attempt.outcome, { kind: 'failed', failure: { kind: 'limit', limit: 'idle' } });
    });
  });
});
