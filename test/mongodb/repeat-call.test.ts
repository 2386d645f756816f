import assert from 'node:assert/strict';
import { repeatCall } from '#mongodb/reconnecting-client.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

describe('repeatCall', () => {
  let time: SimulatedTime;
  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
  });
  afterEach(() => time[Symbol.dispose]());

  /** Lets time pass until work has ended. */
  const within = async <Result>(limitMs: number, work: Promise<Result>): Promise<Result> => {
    let hasEnded = false;
    const ended = () => {
      hasEnded = true;
    };
    work.then(ended, ended);
    assert.ok(await time.passUntil(() => hasEnded, limitMs), 'it has not ended');
    return work;
  };

  /** Returns a call that fails this number of times. */
  const failing = (times: number, error: Error = new UnavailableError('away')) => {
    const calls: number[] = [];
    const call = async () => {
      calls.push(time.now);
      if (calls.length <= times) throw error;
      return 'done';
    };
    return { call, calls };
  };

  it('repeats a failed call immediately, and then with growing pauses', async () => {
    const { call, calls } = failing(5);
    assert.equal(await within(1_000, repeatCall(call)), 'done');
    const pauses = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
    assert.equal(pauses[0], 0);
    assert.ok((pauses[4] ?? 0) >= 80, `${pauses}`);
  });

  it('throws an error that a repetition does not cure', async () => {
    for (const error of [new Error('wrong'), new PermanentlyUnavailableError('the password is wrong')]) {
      const { call, calls } = failing(1, error);
      await assert.rejects(repeatCall(call), error);
      assert.equal(calls.length, 1);
    }
  });

  it('ends when its signal aborts', async () => {
    const { call, calls } = failing(Number.POSITIVE_INFINITY);
    const ending = new AbortController();
    time.in(100, () => ending.abort());
    await assert.rejects(within(200, repeatCall(call, ending.signal)), UnavailableError);
    assert.ok(calls.length >= 3);
  });

  it('outlasts an outage of 12 s, and ends a call later when each takes as long as it may', async () => {
    const limitMs = 10_000;
    let calls = 0;
    const call = async () => {
      calls += 1;
      await time.wait(limitMs);
      throw new UnavailableError('away');
    };
    await assert.rejects(within(12_000 + limitMs, repeatCall(call)), UnavailableError);
    assert.equal(calls, 2);
  });
});
