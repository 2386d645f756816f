import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'mocha';
import { loggerOn } from '#shared/logging/pino-logger.ts';

describe('loggerOn', () => {
  it('removes API keys from logged headers', () => {
    let text = '';
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        text += String(chunk);
        done();
      },
    });
    const log = loggerOn('info', sink);
    const headers = { authorization: 'Bearer sy_live_1', 'x-api-key': 'sy_live_2' };
    log.info(headers, 'a');
    log.info({ headers }, 'b');
    log.debug('not asked for');
    assert.doesNotMatch(text, /sy_live_|not asked for/);
    assert.equal(text.split('\n').length, 3);
  });
});
