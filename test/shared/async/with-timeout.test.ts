import assert from 'node:assert/strict';
import { withTimeout, withTimeoutError } from '#shared/async/with-timeout.ts';

const never = new Promise<string>(() => undefined);
const late = () => new Error('It is late.');

describe('work that is waited for no longer than a limit', () => {
  it('is what it comes to in time, a failure too', async () => {
    assert.equal(await withTimeout(60_000, Promise.resolve('done'), 'late'), 'done');
    assert.equal(await withTimeoutError(60_000, Promise.resolve('done'), late), 'done');
    await assert.rejects(withTimeout(60_000, Promise.reject(new Error('It is broken.')), 'late'), /broken/);
    await assert.rejects(withTimeoutError(60_000, Promise.reject(new Error('It is broken.')), late), /broken/);
  });

  it('is late after that', async () => {
    assert.equal(await withTimeout(1, never, 'late'), 'late');
    await assert.rejects(withTimeoutError(1, never, late), /It is late/);
  });

  it('may come to nothing in time without a failure', async () => {
    assert.equal(await withTimeoutError(60_000, Promise.resolve(undefined), late), undefined);
  });
});
