import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { Writable } from 'node:stream';
import { MongoServerError } from 'mongodb';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';

const marker = 'marker-of-a-client';

/** What code throws that was given a client's text. */
const thrown: Readonly<Record<string, () => unknown>> = {
  'JSON.parse': () => JSON.parse(`{${marker}`),
  'the URL parser': () => new URL(marker),
  'a header that cannot be sent': () => validateHeaderValue(marker, `${marker}\n`),
  'an argument of Node': () => Buffer.from(marker, marker as never),
  decodeURIComponent: () => decodeURIComponent(`%${marker}`),
  'a driver that keeps the document': () => {
    throw Object.assign(new MongoServerError({ message: `dup key: "${marker}"`, code: 11000 }), { op: { marker } });
  },
  'a code that is a text': () => {
    throw Object.assign(new Error('It failed.'), { code: marker });
  },
  'a cause': () => {
    try {
      JSON.parse(marker);
    } catch (cause) {
      throw new Error('It failed.', { cause });
    }
  },
  'what is no error': () => {
    throw { marker };
  },
};

describe('an error in the log', () => {
  let text: string;
  const log = loggerOn(
    'info',
    new Writable({
      write: (chunk, _encoding, done) => {
        text += String(chunk);
        done();
      },
    }),
  );
  beforeEach(() => {
    text = '';
  });

  for (const [what, throwing] of Object.entries(thrown))
    it(`quotes nothing of a client when ${what} throws it`, () => {
      try {
        throwing();
        assert.fail('nothing was thrown');
      } catch (error) {
        assert.ok(!(error instanceof assert.AssertionError));
        log.error({ err: error, error: errorText(error) }, 'it failed');
        assert.ok(!text.includes(marker), text);
        assert.equal(JSON.parse(text).msg, 'it failed');
      }
    });

  it('has no further members of an error in the place of its text', () => {
    for (const member of ['error', 'reason']) {
      log.error({ [member]: Object.assign(new Error('It failed.'), { document: marker }) }, 'it failed');
      assert.ok(!text.includes(marker), text);
      assert.equal(JSON.parse(text)[member].message, 'It failed.');
      text = '';
    }
  });

  it('keeps the class, the code, the places and the text of the service’s own errors', () => {
    const cause = Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' });
    log.error({ err: new UnavailableError('The store is down.') }, 'it failed');
    const { err } = JSON.parse(text);
    assert.deepEqual([err.type, err.message], ['UnavailableError', 'The store is down.']);
    assert.match(err.stack, /^UnavailableError: The store is down\.\n {4}at .*logged-error\.test/);
    text = '';
    log.error({ err: new Error('It failed.', { cause }) }, 'it failed');
    assert.deepEqual([JSON.parse(text).err.cause.code, errorText(cause)], ['ECONNREFUSED', 'Error: connect failed']);
  });
});
