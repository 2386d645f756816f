import assert from 'node:assert/strict';
import { repeatCall } from '#mongodb/reconnecting-client.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';

describe('repeatCall', () => {
  /** Returns a call that fails this number of times. */
  const failing = (times: number, error: Error = new UnavailableError('away')) => {
    const calls: number[] = [];
    const call = async () => {
      calls.push(performance.now());
      if (calls.length <= times) throw error;
      return 'done';
    };
    return { call, calls };
  };

  it('repeats a failed call at once, and then with growing pauses', async () => {
    const { call, calls } = failing(5);
    assert.equal(await repeatCall(call), 'done');
    const pauses = calls.slice(1).map((time, index) => time - (calls[index] ?? 0));
    assert.ok((pauses[0] ?? 20) < 9, `${pauses}`);
    assert.ok((pauses[4] ?? 0) >= 79, `${pauses}`);
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
    setTimeout(() => ending.abort(), 100);
    await assert.rejects(repeatCall(call, ending.signal), UnavailableError);
    assert.ok(calls.length >= 3);
  });
});
