import assert from 'node:assert/strict';
import { restarting } from '#shared/async/retrying.ts';

describe('restarting', () => {
  it('logs a failure, and ends without another run when its signal aborts meanwhile', async () => {
    const stopping = new AbortController();
    const failure = new Error('a bug');
    const logged: unknown[] = [];
    let runs = 0;
    const work = async () => {
      runs += 1;
      throw failure;
    };
    const log = {
      error: (fields: object, message: string) => {
        logged.push([fields, message]);
        stopping.abort();
      },
    };
    await restarting(work, { log, signal: stopping.signal, message: 'It failed' });
    assert.deepEqual(logged, [[{ err: failure }, 'It failed']]);
    assert.equal(runs, 1);
  });

  it('runs work again that has ended, until its signal aborts', async () => {
    const stopping = new AbortController();
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs === 3) stopping.abort();
    };
    await restarting(work, { log: { error: assert.fail }, signal: stopping.signal, message: '' });
    assert.equal(runs, 3);
  });
});
