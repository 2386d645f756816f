import assert from 'node:assert/strict';
import { answeredLine, maxBytesOnLine } from '#processes/batches/answered-line.ts';

const megabyte = 1024 * 1024;

const lineOf = (contentType: string, body: Buffer) =>
  answeredLine('batch_1', 'a', { status: 200, requestId: 'r', contentType, body });

describe('answeredLine', () => {
  it('keeps JSON on one line, with blanks for its line ends and all else as it was', async () => {
    const { text, isError } = await lineOf('application/json', Buffer.from('{\r\n "a":\n\n"\\n ü"\r}\n'));
    assert.equal(isError, false);
    assert.equal(text.indexOf('\n'), text.length - 1);
    assert.equal(text.indexOf('\r'), -1);
    assert.match(text.toString(), /"body":\{ {3}"a": {2}"\\n ü" \} \},"error":null\}\n$/);
    assert.deepEqual(JSON.parse(text.toString()).response.body, { a: '\n ü' });
  });

  it('makes a text of what is not JSON, and an error of a text that is too large', async () => {
    const small = await lineOf('text/plain', Buffer.from('one\ntwo'));
    assert.equal(JSON.parse(small.text.toString()).response.body, 'one\ntwo');
    const large = await lineOf('application/octet-stream', Buffer.alloc(5 * megabyte, 1));
    const { response } = JSON.parse(large.text.toString());
    assert.deepEqual([response.status_code, response.body.error.code], [502, 'provider_too_large']);
    assert.deepEqual([large.isError, large.text.length < 1_000], [true, true]);
  });

  it('takes no more than is counted before it is made', async () => {
    for (const contentType of ['application/json', 'text/plain'])
      for (const size of [1_000, 5 * megabyte]) {
        const body = Buffer.alloc(size, contentType === 'text/plain' ? 1 : 0x20);
        const { text } = await lineOf(contentType, body);
        const counted = maxBytesOnLine({ contentType, body });
        assert.ok(text.length >= counted && text.length < counted + 200, `${text.length} of ${counted}`);
      }
  });

  it('gives others turns while it replaces many line ends', async () => {
    const body = Buffer.concat([Buffer.from('['), Buffer.alloc(16 * megabyte, '\n'), Buffer.from(']')]);
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    const { text } = await lineOf('application/json', body);
    clearInterval(counting);
    assert.deepEqual(JSON.parse(text.toString()).response.body, []);
    assert.ok(turns > 3, `${turns} turns`);
  });
});
