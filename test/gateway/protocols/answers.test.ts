import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { SseSplitter } from '#gateway/framing/sse-splitter.ts';
import type { AnswerEvent, AnswerReader } from '#gateway/neutral/answer-event.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import type { ClientHalf, TextRequest } from '#gateway/protocols/protocol.ts';
import { answers, eventsOf, joined } from './arbitrary-answers.ts';

/** A request of a stream with its usage, whose answers are written. */
async function requestOf(client: ClientHalf): Promise<TextRequest> {
  const body = { model: 'm', max_tokens: 1, messages: [], stream: true, stream_options: { include_usage: true } };
  const read = await client.read(Buffer.from(JSON.stringify(body)), 1_000);
  if (E.isLeft(read)) throw new Error(read.left.detail);
  return read.right;
}

const options = { model: 'm', isContinuation: false, freeTextTools: new Set<string>() };
const runs = { numRuns: 300 };

/** Reads a stream that arrives in these pieces. */
function readPieces(reader: AnswerReader, pieces: ReadonlyArray<Buffer>): ReadonlyArray<AnswerEvent> {
  const splitter = new SseSplitter();
  const batches = [...pieces.map((piece) => splitter.push(piece)), splitter.finish()];
  return batches.flatMap(({ events }) => events.flatMap(({ data }) => reader.read(data)));
}

for (const { name, client, provider } of [openAiChat, anthropicMessages])
  describe(`answers of ${name}`, () => {
    let request: TextRequest;
    before(async () => {
      request = await requestOf(client);
    });

    const written = (events: Iterable<AnswerEvent>) => {
      const writer = request.createWriter(options);
      const frames = Array.from(events, (event) => (event.kind === 'end' ? writer.end() : writer.write(event)));
      return Buffer.from(frames.join(''));
    };

    /** The usage of a stream may come at any place, and its last report counts. */
    const withoutUsage = (events: Iterable<AnswerEvent>) => joined([...events].filter(({ kind }) => kind !== 'usage'));
    const lastUsage = (events: ReadonlyArray<AnswerEvent>) => events.findLast(({ kind }) => kind === 'usage');

    it('are the same after writing and reading a stream', () => {
      fc.assert(
        fc.property(answers(name), (answer) => {
          const events = [...eventsOf(answer)];
          const read = readPieces(provider.createReader(), [written(events)]);
          assert.deepEqual(withoutUsage(read), withoutUsage(events));
          const usage = lastUsage(read);
          assert.ok(usage?.kind === 'usage' && answer.tokens !== null);
          assert.deepEqual([usage.tokens.input, usage.tokens.output], [answer.tokens.input, answer.tokens.output]);
        }),
        runs,
      );
    });

    it('are the same wherever a stream is cut into pieces', () => {
      fc.assert(
        fc.property(answers(name), fc.array(fc.nat(), { maxLength: 5 }), (answer, places) => {
          const bytes = written(eventsOf(answer));
          const cuts = [0, ...places.map((place) => place % bytes.length), bytes.length].toSorted((a, b) => a - b);
          const pieces = cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut));
          assert.deepEqual(readPieces(provider.createReader(), pieces), readPieces(provider.createReader(), [bytes]));
        }),
        runs,
      );
    });

    it('are the same after writing and reading a whole answer', () => {
      fc.assert(
        fc.property(answers(name), (answer) => {
          const body = request.writeWhole(answer, options);
          const read = provider.readWhole(body, JSON.parse(body.toString()));
          assert.deepEqual(read && { ...read, tokens: null }, { ...answer, tokens: null });
          assert.deepEqual([read?.tokens?.input, read?.tokens?.output], [answer.tokens?.input, answer.tokens?.output]);
        }),
        runs,
      );
    });
  });

describe('the writer of Messages', () => {
  it('writes calls one after the other that a provider of chats mixes', async () => {
    const writer = (await requestOf(anthropicMessages.client)).createWriter(options);
    const events: ReadonlyArray<AnswerEvent> = [
      { kind: 'started', id: 'x', model: 'm' },
      { kind: 'tool-call', index: 0, id: 'a', name: 'one' },
      { kind: 'tool-call', index: 1, id: 'b', name: 'two' },
      { kind: 'arguments', index: 1, text: '{"b":' },
      { kind: 'arguments', index: 0, text: '{"a":1}' },
      { kind: 'arguments', index: 1, text: '2}' },
      { kind: 'finished', reason: 'tool-calls', stopSequence: null },
    ];
    const stream = events.map((event) => writer.write(event)).join('') + writer.end();
    const read = readPieces(anthropicMessages.provider.createReader(), [Buffer.from(stream)]);
    assert.deepEqual(
      joined(read).filter(({ kind }) => kind === 'tool-call' || kind === 'arguments'),
      [
        { kind: 'tool-call', index: 0, id: 'a', name: 'one' },
        { kind: 'arguments', index: 0, text: '{"a":1}' },
        { kind: 'tool-call', index: 1, id: 'b', name: 'two' },
        { kind: 'arguments', index: 1, text: '{"b":2}' },
      ],
    );
  });
});
