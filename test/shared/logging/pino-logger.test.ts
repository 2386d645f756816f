import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { beforeEach, describe, it } from 'mocha';
import { loggerOn } from '#shared/logging/pino-logger.ts';

describe('loggerOn', () => {
  let text: string;
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  beforeEach(() => {
    text = '';
  });

  it('removes API keys from logged headers', () => {
    const log = loggerOn('info', sink);
    const headers = { authorization: 'Bearer sy_live_1', 'x-api-key': 'sy_live_2' };
    log.info(headers, 'a');
    log.info({ headers }, 'b');
    log.debug('not asked for');
    assert.doesNotMatch(text, /sy_live_|not asked for/);
    assert.equal(text.split('\n').length, 3);
  });

  it('shows the message, the code, the place and the causes of an error', () => {
    const cause = Object.assign(new Error('the disk is gone'), { code: 'EIO' });
    loggerOn('info', sink).error({ err: new TypeError('it broke', { cause }) }, 'internal error');
    const { err } = JSON.parse(text);
    assert.deepEqual(
      [err.type, err.message, err.cause.message, err.cause.code],
      ['TypeError', 'it broke', 'the disk is gone', 'EIO'],
    );
    assert.match(err.stack, /pino-logger\.test\.ts/);
  });

  it('shows nothing that an error quotes or holds of a request', () => {
    const thrown = (work: () => unknown) => {
      try {
        work();
      } catch (error) {
        return error;
      }
    };
    const quoting = thrown(() => JSON.parse('private words'));
    const log = loggerOn('info', sink);
    for (const err of [
      quoting,
      thrown(() => new URL('private:// words')),
      thrown(() => BigInt('private words')),
      new Error('outer', { cause: quoting }),
      Object.assign(new Error('outer'), { document: { text: 'private words' }, headers: { 'x-a': 'private' } }),
      'private words',
    ])
      log.error({ err }, 'internal error');
    log.warn({ error: String(quoting), reason: String(quoting) }, 'a line');
    assert.equal(text.split('\n').length, 8);
    assert.doesNotMatch(text, /private/);
  });

  it('cuts off a long chain of causes, and one that is a circle', () => {
    const error = new Error('one');
    error.cause = new Error('other', { cause: error });
    loggerOn('info', sink).error({ err: error }, 'internal error');
    assert.ok(text.split('"cause"').length < 10, text);
  });
});
