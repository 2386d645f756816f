import assert from 'node:assert/strict';
import { AnswerWatch } from '#mongodb/answer-watch.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const limitMs = 1_000;

describe('AnswerWatch', () => {
  let time: SimulatedTime;
  let watch: AnswerWatch;
  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    watch = new AnswerWatch();
  });
  afterEach(() => time[Symbol.dispose]());

  it('finds a client silent two limits after the first call without an answer, although later limits are longer', async () => {
    watch.asked(limitMs);
    await time.pass(limitMs);
    watch.asked(3 * limitMs);
    assert.ok(!watch.isSilent);
    await time.pass(limitMs);
    assert.ok(watch.isSilent);
  });

  it('counts from the first call after the last answer', async () => {
    watch.asked(limitMs);
    await time.pass(1.5 * limitMs);
    watch.answered();
    await time.pass(10 * limitMs);
    assert.ok(!watch.isSilent, 'nothing was asked');
    watch.asked(limitMs);
    await time.pass(1.5 * limitMs);
    assert.ok(!watch.isSilent);
    await time.pass(0.5 * limitMs);
    assert.ok(watch.isSilent);
  });

  it('finds a closed client silent when it is a second old', async () => {
    watch.closed();
    assert.ok(!watch.isSilent);
    await time.pass(1_000);
    assert.ok(watch.isSilent);
  });

  it('knows whether something was answered since a moment', async () => {
    assert.ok(!watch.hasAnsweredSince(time.now));
    watch.answered();
    assert.ok(watch.hasAnsweredSince(time.now));
    await time.pass(1);
    assert.ok(!watch.hasAnsweredSince(time.now));
  });
});
