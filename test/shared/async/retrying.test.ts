import assert from 'node:assert/strict';
import { retrying } from '#shared/async/retrying.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

describe('retrying', () => {
  it('logs the first failure and the success, and nothing for a call that succeeds immediately', async () => {
    const lines: string[] = [];
    const log = {
      info: (_: object, message: string) => lines.push(`info ${message}`),
      warn: (_: object, message: string) => lines.push(`warn ${message}`),
      error: assert.fail,
    };
    let failures = 4;
    const call = async () => {
      failures -= 1;
      if (failures >= 0) throw new UnavailableError('away');
      return 'done';
    };
    const { signal } = new AbortController();
    assert.equal(await retrying('Storing documents', call, { log, signal }), 'done');
    assert.equal(await retrying('Storing documents', call, { log, signal }), 'done');
    assert.deepEqual(lines, [
      'warn Storing documents failed and is tried again',
      'info Storing documents has succeeded',
    ]);
  });
});
