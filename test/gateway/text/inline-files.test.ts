import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import * as E from 'fp-ts/lib/Either.js';
import type { ProjectFile } from '#application/files/project-file.ts';
import { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import type { GatewayCall } from '#gateway/gateway-call.ts';
import { readExpandedRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import { type Inlining, inlineFiles } from '#gateway/text/inline-files.ts';

const mebibyte = 1024 * 1024;

/** A call of a project with these files, by their ids. Every file that is read is noted. */
function callWith(files: Readonly<Record<string, Omit<ProjectFile, 'open'>>>, maxBytes = 64 * mebibyte) {
  const admission = new Admission({ limits: { bytes: { body: { maxBytesPerProject: maxBytes, maxBytes } } } });
  const held = new Held('p', admission.budgets);
  const noted: { readonly id: string; readonly heldBytes: number }[] = [];
  const bodyHold = held.body;
  const findFile = async (id: string) => {
    const file = files[id];
    if (file === undefined) return null;
    const open = async () => {
      noted.push({ id, heldBytes: bodyHold.bytes });
      return Readable.from([Buffer.alloc(file.bytes, 'x')]);
    };
    return { ...file, open };
  };
  const caller = { projectId: 'p', scopes: new Set(['files:read']) };
  return {
    call: { gateway: { findFile, admission }, caller, held } as unknown as GatewayCall,
    noted,
    bodyHold,
  };
}

async function inline(call: GatewayCall, input: ReadonlyArray<object>, more: Partial<Inlining> = {}) {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', input }));
  const read = await readExpandedRequest(bytes, 1_000_000);
  assert.ok(E.isRight(read));
  return inlineFiles(call, read.right, { imageMember: 'image_url', ...more });
}

const asking = (...ids: ReadonlyArray<string>) => ({
  role: 'user',
  content: ids.map((file_id) => ({ type: 'input_file', file_id })),
});
const codeOf = (result: E.Either<{ code: string }, unknown>) => (E.isLeft(result) ? result.left.code : null);

describe('files that are put into a request', () => {
  it('are refused when what all mentions add is too much, before one is read: names and types count', async () => {
    const filename = `${'😀'.repeat(255)}.txt`;
    const { call, noted, bodyHold } = callWith({ a: { filename, contentType: 'text/plain', bytes: 1 } });
    const result = await inline(call, [asking(...Array.from({ length: 20_000 }, () => 'a'))]);
    assert.equal(codeOf(result), 'body-too-large');
    assert.deepEqual([noted, bodyHold.bytes], [[], 0]);
  });

  it('count before one is read: each text once, and the new body', async () => {
    const { call, noted, bodyHold } = callWith({ a: { filename: 'a', contentType: 'text/plain', bytes: mebibyte } });
    const inlined = await inline(call, [asking('a', 'a', 'a')]);
    assert.ok(E.isRight(inlined));
    const { length } = inlined.right.bytes;
    assert.equal(noted.length, 1);
    assert.ok(length > 4 * mebibyte);
    assert.ok((noted[0]?.heldBytes ?? 0) >= length + (4 / 3) * mebibyte, 'counted');
    assert.ok(bodyHold.bytes >= length && bodyHold.bytes < length + 100_000, 'the texts are given back');
  });

  it('are refused without room for them, before one is read', async () => {
    const { call, noted } = callWith({ a: { filename: 'a', contentType: 'text/plain', bytes: mebibyte } }, mebibyte);
    assert.equal(codeOf(await inline(call, [asking('a')])), 'too-many-body-bytes');
    assert.deepEqual(noted, []);
  });

  it('cannot add members by their type', async () => {
    const contentType = 'text/plain","file_id":"file-1';
    const { call } = callWith({ a: { filename: 'a', contentType, bytes: 1 } });
    const inlined = await inline(call, [asking('a')]);
    assert.ok(E.isRight(inlined));
    const { input } = JSON.parse(inlined.right.bytes.toString());
    assert.deepEqual(Object.keys(input[0].content[0]), ['type', 'filename', 'file_data']);
  });

  it('become a text where an earlier turn names one that is gone', async () => {
    const { call } = callWith({ here: { filename: 'a', contentType: 'text/plain', bytes: 1 } });
    const screen = { type: 'computer_screenshot', file_id: 'gone' };
    const result = { type: 'function_call_output', output: [{ type: 'input_image', file_id: 'past' }] };
    const earlier = [asking('here', 'gone'), { type: 'computer_call_output', output: screen }, result];
    const isEarlier = ({ pointer }: { readonly pointer: string }) => !pointer.startsWith('/input/3/');
    const inlined = await inline(call, [...earlier, asking('here')], { isEarlier });
    assert.ok(E.isRight(inlined));
    const { input } = JSON.parse(inlined.right.bytes.toString());
    const text = (id: string) => ({ type: 'input_text', text: `[file ${id} is no longer available]` });
    assert.equal(input[0].content[0].file_data, 'data:text/plain;base64,eA==');
    assert.deepEqual(input[0].content[1], text('gone'));
    assert.match(input[1].output.image_url, /^data:image\/png;base64,/);
    assert.deepEqual(input[2].output, [text('past')]);
    assert.deepEqual(inlined.right.gone, ['gone', 'past']);
    const own = await inline(call, [...earlier, asking('gone')], { isEarlier });
    assert.ok(E.isLeft(own));
    assert.deepEqual([own.left.code, own.left.errors?.[0]?.pointer], ['file-not-found', '/input/3/content/0/file_id']);
  });

  it('that are gone are taken out of what an assistant has said, and nothing else of it', async () => {
    const { call } = callWith({});
    const [text, type] = ['a', 'output_text'];
    const content = [
      { type, text, file_id: 'gone' },
      { file_id: 'gone', type, text },
    ];
    const inlined = await inline(call, [{ role: 'assistant', content }], { isEarlier: () => true });
    assert.ok(E.isRight(inlined));
    const { input } = JSON.parse(inlined.right.bytes.toString());
    assert.deepEqual(input[0].content, [
      { type, text },
      { type, text },
    ]);
  });

  it('are replaced together where a part names several, of which one is gone', async () => {
    const { call } = callWith({ here: { filename: 'a', contentType: 'text/plain', bytes: 1 } });
    const twice = (type: string) => `{"type":"${type}","file_id":"gone","file_id":"here","file_\\u0069d":"past"}`;
    const many = `{"type":"output_text"${',"file_id":"gone"'.repeat(200)}}`;
    const parts = `${twice('input_file')},${twice('output_text')},${many}`;
    const screen = '{"type":"computer_screenshot","file_id":"gone","file_id":"past"}';
    const input = `[{"role":"user","content":[${parts}]},{"type":"computer_call_output","output":${screen}}]`;
    const read = await readExpandedRequest(Buffer.from(`{"model":"m","input":${input}}`), 1_000_000);
    assert.ok(E.isRight(read));
    const inlined = await inlineFiles(call, read.right, { imageMember: 'image_url', isEarlier: () => true });
    assert.ok(E.isRight(inlined));
    const [message, output] = JSON.parse(inlined.right.bytes.toString()).input;
    const gone = { type: 'input_text', text: '[file gone is no longer available]' };
    assert.deepEqual(message.content, [gone, { type: 'output_text' }, gone]);
    assert.match(output.output.image_url, /^data:image\/png;base64,/);
  });
});
