import assert from 'node:assert/strict';
import { openPatiently } from '#app/startup/open-patiently.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

describe('a service that is opened again', () => {
  let lines: object[];
  let failed: number;
  let now: number;
  beforeEach(() => {
    [lines, failed, now] = [[], 0, 0];
  });
  const log = { error: (fields: object) => void lines.push(fields) };
  const onFailed = () => {
    failed += 1;
  };
  /** Fails with each of the failures, 5 s after one another, and then opens. */
  const openAfter = (...failures: ReadonlyArray<Error>) => {
    const left = [...failures];
    const open = async () => {
      now += 5_000;
      const failure = left.shift();
      if (failure !== undefined) throw failure;
      return 'opened';
    };
    return openPatiently(open, { isStopping: () => false, onFailed, log, retryMs: 1, now: () => now });
  };

  it('tries again after every kind of failure', async () => {
    const [refused, unavailable, bug] = [
      new StartupError('refused'),
      new UnavailableError('unavailable'),
      new Error('bug'),
    ];
    assert.equal(await openAfter(refused, unavailable, bug), 'opened');
    assert.equal(failed, 3);
    assert.deepEqual(lines, [
      { error: 'refused', retryMs: 1 },
      { err: unavailable, retryMs: 1 },
      { err: bug, retryMs: 1 },
    ]);
  });

  it('logs the same failure once a minute', async () => {
    await openAfter(...Array.from({ length: 14 }, () => new UnavailableError('unavailable')));
    assert.equal(failed, 14);
    assert.equal(lines.length, 2);
  });

  it('ends its tries when the process stops', async () => {
    const open = async () => {
      throw new Error('it failed');
    };
    const opened = await openPatiently(open, { isStopping: () => failed === 2, onFailed, log, retryMs: 1 });
    assert.deepEqual([opened, failed], [null, 2]);
  });
});
