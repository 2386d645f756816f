import assert from 'node:assert/strict';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

describe('waitForStore', () => {
  let lines: string[];
  const logged = (_: unknown, line: string) => void lines.push(line);
  const log = { info: logged, error: assert.fail, warn: logged };

  beforeEach(() => {
    lines = [];
  });

  it('waits until a store answers, and logs the first failed try and the answer', async () => {
    let tries = 0;
    const call = async () => {
      tries += 1;
      if (tries < 3) throw new UnavailableError('It starts.');
      return 'an answer';
    };
    assert.equal(await waitForStore('EVENT_STORE_URL', log, call), 'an answer');
    assert.equal(lines.length, 2);
    for (const line of lines) assert.match(line, /EVENT_STORE_URL/);
    assert.match(lines[0] ?? '', /is tried again/);
    assert.match(lines[1] ?? '', /has succeeded/);
  });

  it('fails at the time limit with an error that names the variable and the cause', async () => {
    const call = () => Promise.reject(new UnavailableError('Nobody is there.'));
    await assert.rejects(
      waitForStore('READ_STORE_URL', log, call, 50),
      (error) => error instanceof StartupError && /^READ_STORE_URL: .*Nobody is there\./.test(error.message),
    );
  });

  it('does not retry when the store refuses the connection, and rethrows a bug as it is', async () => {
    const refused = Object.assign(new Error('Authentication is required.'), { code: 13 });
    await assert.rejects(
      waitForStore('READ_STORE_URL', log, () => Promise.reject(refused)),
      (error) => error instanceof StartupError && /^READ_STORE_URL: .*Authentication/.test(error.message),
    );
    const bug = new TypeError('It is a bug.');
    await assert.rejects(
      waitForStore('READ_STORE_URL', log, () => Promise.reject(bug)),
      bug,
    );
    assert.deepEqual(lines, []);
  });
});
