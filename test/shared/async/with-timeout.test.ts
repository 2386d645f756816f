import assert from 'node:assert/strict';
import { inTime, inTimeOrThrow } from '#shared/async/with-timeout.ts';

const never = new Promise<string>(() => undefined);
const late = () => new Error('It is late.');

describe('work that is waited for no longer than a limit', () => {
  it('is what it comes to in time, a failure too', async () => {
    assert.equal(await inTime(60_000, Promise.resolve('done'), 'late'), 'done');
    assert.equal(await inTimeOrThrow(60_000, Promise.resolve('done'), late), 'done');
    await assert.rejects(inTime(60_000, Promise.reject(new Error('It is broken.')), 'late'), /broken/);
    await assert.rejects(inTimeOrThrow(60_000, Promise.reject(new Error('It is broken.')), late), /broken/);
  });

  it('is late after that', async () => {
    assert.equal(await inTime(1, never, 'late'), 'late');
    await assert.rejects(inTimeOrThrow(1, never, late), /It is late/);
  });

  it('may come to nothing in time without a failure', async () => {
    assert.equal(await inTimeOrThrow(60_000, Promise.resolve(undefined), late), undefined);
  });
});
