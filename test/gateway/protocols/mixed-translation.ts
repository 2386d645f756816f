import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { SseSplitter } from '#gateway/framing/sse-splitter.ts';
import { ClientTools } from '#gateway/neutral/client-tools.ts';
import { TranslatedStream } from '#gateway/protocols/neutral-stream.ts';
import type { ClientProtocol, TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import type { ReadAnswer } from './client-readers.ts';
import type { MixedAnswer } from './mixed-answers.ts';

const options = { model: 'm', isContinuation: false, tools: new ClientTools([]) };

/** A request for a stream. */
export async function requestOf({ client }: ClientProtocol): Promise<TextRequest> {
  const body = { model: 'm', max_tokens: 1, messages: [], input: 'x', stream: true };
  const read = await client.read(Buffer.from(JSON.stringify(body)), 1_000);
  return E.isRight(read) ? read.right : assert.fail(read.left.detail);
}

/** Translates a stream whose bytes arrive in pieces of these lengths. */
export function translate(
  from: TextProtocol,
  to: ClientProtocol,
  request: TextRequest,
  { stream }: MixedAnswer,
  lengths: ReadonlyArray<number>,
): string {
  const rules = { tools: options.tools, mustBeObjects: to.client.hasArgumentsAsObjects };
  const translated = new TranslatedStream(
    from.provider.createReader(plainTarget),
    request.createWriter(options),
    rules,
    false,
  );
  const splitter = new SseSplitter();
  const bytes = Buffer.from(stream);
  let written = '';
  let at = 0;
  for (let piece = 0; at < bytes.length; piece += 1) {
    const length = lengths[piece % lengths.length] as number;
    for (const { data } of splitter.push(bytes.subarray(at, at + length)).events) {
      const { kind } = translated.classify(data);
      assert.ok(['content', 'no-content', 'end'].includes(kind), `${kind}: ${data}`);
      written += translated.translated();
    }
    at += length;
  }
  return written + translated.finish();
}

/** Compares what a client has read with what the provider has sent. */
export function assertSame(read: ReadAnswer, sent: MixedAnswer): void {
  assert.deepEqual([read.text, read.reasoning ?? sent.reasoning], [sent.text, sent.reasoning]);
  assert.deepEqual(
    read.calls.map(({ id, name }, index) => ({ id: sent.calls[index]?.id === null ? null : id, name })),
    sent.calls.map(({ id, name }) => ({ id, name })),
  );
  const ids = read.calls.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(!ids.includes(''));
}
