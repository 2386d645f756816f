import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { SseSplitter } from '#gateway/framing/sse-splitter.ts';
import { ClientTools } from '#gateway/neutral/client-tools.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { TranslatedStream } from '#gateway/protocols/neutral-stream.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { ClientProtocol, TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { itInRounds } from '#test/support/run/long.ts';
import type { ProtocolName } from './arbitrary-answers.ts';
import { clientReaders, type ReadAnswer } from './client-readers.ts';
import { type MixedAnswer, mixedAnswers } from './mixed-answers.ts';
import { officialClients } from './official-clients.ts';

const options = { model: 'm', isContinuation: false, tools: new ClientTools([]) };

async function requestOf({ client }: ClientProtocol): Promise<TextRequest> {
  const body = { model: 'm', max_tokens: 1, messages: [], input: 'x', stream: true };
  const read = await client.read(Buffer.from(JSON.stringify(body)), 1_000);
  return E.isRight(read) ? read.right : assert.fail(read.left.detail);
}

/** Translates a stream whose bytes arrive in pieces of these lengths. */
function translate(
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

const lengthsOfPieces = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });

/** Compares what a client has read with what the provider has sent. */
function assertSame(read: ReadAnswer, sent: MixedAnswer): void {
  assert.deepEqual([read.text, read.reasoning ?? sent.reasoning], [sent.text, sent.reasoning]);
  assert.deepEqual(
    read.calls.map(({ id, name }, index) => ({ id: sent.calls[index]?.id === null ? null : id, name })),
    sent.calls.map(({ id, name }) => ({ id, name })),
  );
  const ids = read.calls.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(!ids.includes(''));
}

const valuesOf = (calls: ReadonlyArray<{ readonly arguments: string }>) =>
  calls.map(({ arguments: given }) => JSON.parse(given));

describe('a translated stream of a provider that mixes its parts', () => {
  for (const from of [openAiChat, anthropicMessages, openAiResponses])
    for (const to of [openAiChat, openAiResponses, anthropicMessages])
      itInRounds(
        `says the same to a client of ${to.name}, one part after the other, as the provider of ${from.name}`,
        { few: 30, many: 2_000 },
        async (numRuns) => {
          const request = await requestOf(to);
          fc.assert(
            fc.property(mixedAnswers(from.name), lengthsOfPieces, (answer, lengths) => {
              const read = clientReaders[to.name as ProtocolName](translate(from, to, request, answer, lengths));
              assertSame(read, answer);
              assert.deepEqual(
                read.calls.map((call) => call.arguments),
                answer.calls.map((call) => call.arguments),
              );
            }),
            { numRuns },
          );
        },
      );

  for (const to of [openAiChat, openAiResponses, anthropicMessages])
    it(`is read by the official client of ${to.name}`, async () => {
      const request = await requestOf(to);
      for (const from of [openAiChat, anthropicMessages, openAiResponses])
        await fc.assert(
          fc.asyncProperty(mixedAnswers(from.name), async (answer) => {
            const read = await officialClients[to.name as ProtocolName](
              translate(from, to, request, answer, [answer.stream.length]),
            );
            assertSame(read, answer);
            assert.deepEqual(valuesOf(read.calls), valuesOf(answer.calls));
          }),
          { numRuns: 20 },
        );
    });
});
