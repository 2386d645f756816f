import assert from 'node:assert/strict';
import { withTimeout, withTimeoutError } from '#shared/async/timed-waits.ts';

const never = new Promise<string>(() => undefined);
const late = () => new Error('It is late.');

describe('withTimeout', () => {
  it('settles as the work does when it settles in time', async () => {
    assert.equal(await withTimeout(60_000, Promise.resolve('done'), 'late'), 'done');
    assert.equal(await withTimeoutError(60_000, Promise.resolve('done'), late), 'done');
    await assert.rejects(withTimeout(60_000, Promise.reject(new Error('It is broken.')), 'late'), /broken/);
    await assert.rejects(withTimeoutError(60_000, Promise.reject(new Error('It is broken.')), late), /broken/);
  });

  it('settles with the late result or error after the timeout', async () => {
    assert.equal(await withTimeout(1, never, 'late'), 'late');
    await assert.rejects(withTimeoutError(1, never, late), /It is late/);
  });

  it('resolves with undefined when the work resolves with undefined in time', async () => {
    assert.equal(await withTimeoutError(60_000, Promise.resolve(undefined), late), undefined);
  });
});
