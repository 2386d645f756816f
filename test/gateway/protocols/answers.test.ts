import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { SseSplitter } from '#gateway/framing/sse-splitter.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent, AnswerReader } from '#gateway/neutral/answer-event.ts';
import { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { TranslatedStream } from '#gateway/protocols/neutral-stream.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { ClientHalf, TextRequest } from '#gateway/protocols/protocol.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import { freeTextTools } from '#test/gateway/support/free-text-tools.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { answers, eventsOf, joined } from './arbitrary-answers.ts';

/** A request of a stream with its usage, whose answers are written. */
async function requestOf(client: ClientHalf): Promise<TextRequest> {
  const body = {
    model: 'm',
    max_tokens: 1,
    messages: [],
    input: 'x',
    stream: true,
    stream_options: { include_usage: true },
  };
  const read = await client.read(Buffer.from(JSON.stringify(body)), 1_000);
  if (E.isLeft(read)) throw new Error(read.left.detail);
  return read.right;
}

const options = { model: 'm', isContinuation: false, tools: new ClientTools([]) };
const rules = { tools: options.tools, mustBeObjects: false };
const runs = { numRuns: 300 };

/** The tokens that a protocol can say. Only Anthropic's says how long something stays in the cache. */
function countedBy(protocol: string, { input, output, cachedInput, cacheWrite, cacheWriteHour }: Tokens) {
  const ofHour = protocol === 'anthropic-messages' ? cacheWriteHour : undefined;
  return { input, output, cachedInput, cacheWrite, ofHour };
}

/** Reads a stream that arrives in these pieces. */
function readPieces(reader: AnswerReader, pieces: ReadonlyArray<Buffer>): ReadonlyArray<AnswerEvent> {
  const splitter = new SseSplitter();
  const batches = [...pieces.map((piece) => splitter.push(piece)), splitter.finish()];
  return batches.flatMap(({ events }) => events.flatMap(({ data }) => reader.read(data)));
}

/** Responses writes an id and a model of its own, and the name of what can read a signature into it. */
function asWritten<Said extends Answer | AnswerEvent>(said: Said, by: string): Said {
  if (by !== openAiResponses.name) return said;
  if ('parts' in said) return { ...said, id: null, model: null, parts: said.parts.map(withWrittenSignature) };
  return withWrittenSignature('model' in said ? { ...said, id: null, model: null } : said);
}

function withWrittenSignature<Signed extends object>(part: Signed): Signed {
  if (!('signature' in part) || part.signature === null) return part;
  const signature = part.signature as Signature;
  return { ...part, signature: { ...signature, of: plainTarget.provider, value: signatureTextOf(signature) } };
}

/** Without what the gateway makes itself. */
function asRead<Said extends Answer | AnswerEvent>(said: Said, by: string): Said {
  return by === openAiResponses.name && 'model' in said ? { ...said, id: null, model: null } : said;
}

for (const { name, client, provider } of [openAiChat, anthropicMessages, openAiResponses])
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
    const unordered: ReadonlySet<AnswerEvent['kind']> = new Set([
      ...(['usage', 'part-start', 'part-end'] as const),
      ...(name === 'openai-chat' ? (['signature'] as const) : []),
    ]);
    const unsigned = (part: AnswerPart): AnswerPart =>
      part.kind === 'reasoning' && name === 'openai-chat' ? { ...part, signature: null } : part;
    const withoutUsage = (events: Iterable<AnswerEvent>) =>
      joined([...events].filter(({ kind }) => !unordered.has(kind)));
    const lastUsage = (events: ReadonlyArray<AnswerEvent>) => events.findLast(({ kind }) => kind === 'usage');

    it('are the same after writing and reading a stream', () => {
      fc.assert(
        fc.property(answers(name), (answer) => {
          const events = [...eventsOf(answer)];
          const read = readPieces(provider.createReader(plainTarget), [written(events)]);
          assert.deepEqual(
            withoutUsage(read.map((event) => asRead(event, name))),
            withoutUsage(events.map((event) => asWritten(event, name))),
          );
          const usage = lastUsage(read);
          assert.ok(usage?.kind === 'usage' && answer.tokens !== null);
          assert.deepEqual(countedBy(name, usage.tokens), countedBy(name, answer.tokens));
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
          assert.deepEqual(
            readPieces(provider.createReader(plainTarget), pieces),
            readPieces(provider.createReader(plainTarget), [bytes]),
          );
        }),
        runs,
      );
    });

    it('are the same after writing and reading a whole answer', () => {
      fc.assert(
        fc.property(answers(name), (answer) => {
          const body = request.writeWhole(answer, options);
          const read = provider.readWhole(body, JSON.parse(body.toString()), plainTarget);
          assert.ok(read !== null);
          const parts = read.parts.map(unsigned);
          assert.deepEqual(
            asRead({ ...read, parts, tokens: null }, name),
            asWritten({ ...answer, tokens: null }, name),
          );
          assert.deepEqual(
            read?.tokens && countedBy(name, read.tokens),
            answer.tokens && countedBy(name, answer.tokens),
          );
        }),
        runs,
      );
    });
  });

describe('a stream with a large event', () => {
  const large = 'x'.repeat(5 * 1024 * 1024);
  const finish = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const given = JSON.stringify({ a: large });
  const deltas = [
    { content: large },
    { reasoning_content: large },
    { tool_calls: [{ index: 0, id: 'c', function: { name: 'patch', arguments: given } }] },
  ];

  for (const { name, client } of [openAiChat, anthropicMessages, openAiResponses])
    it(`passes whole to a client of ${name}, whatever its end repeats`, async () => {
      const request = await requestOf(client);
      for (const delta of deltas) {
        const stream = new TranslatedStream(
          openAiChat.provider.createReader(plainTarget),
          request.createWriter(options),
          rules,
          false,
        );
        const data = JSON.stringify({ choices: [{ index: 0, delta }] });
        const kinds = [data, finish].map((each) => {
          const { kind } = stream.classify(each);
          let length = stream.translated().length;
          while (stream.hasMore) {
            stream.classifyMore();
            length += stream.translated().length;
          }
          return [kind, length];
        });
        assert.deepEqual(
          kinds.map(([kind]) => kind),
          ['content', 'content'],
        );
        assert.ok(Number(kinds[0]?.[1]) > large.length);
        stream.finish();
      }
    });

  it('does not pass all that is kept of a provider that never ends a call', async () => {
    const request = await requestOf(anthropicMessages.client);
    const stream = new TranslatedStream(
      openAiChat.provider.createReader(plainTarget),
      request.createWriter(options),
      rules,
      false,
    );
    const call = (index: number, text: string) =>
      JSON.stringify({
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index, id: `c${index}`, function: { name: 'patch', arguments: text } }] },
          },
        ],
      });
    const piece = call(1, 'x'.repeat(64 * 1024));
    assert.equal(stream.classify(call(0, '{')).kind, 'content');
    let pieces = 0;
    while (stream.classify(piece).kind === 'no-content') pieces += 1;
    assert.equal(stream.classify(piece).kind, 'too-large');
    assert.ok(pieces >= 60 && pieces <= 68, String(pieces));
  });
});

describe('a stream with a delta for each of 200,000 tokens', () => {
  const pieces = 200_000;
  const started: AnswerEvent = { kind: 'started', id: 'x', model: 'm' };
  const called = (index: number): AnswerEvent => ({
    kind: 'tool-call',
    index,
    id: `c${index}`,
    name: 'patch',
    state: null,
  });
  const part = { kind: 'arguments', index: 1, text: 'word' } as const;

  /** Writes the same event often, and returns the maximum of bytes that the writer keeps. */
  const keptWhile = async (
    client: ClientHalf,
    before: ReadonlyArray<AnswerEvent>,
    event: AnswerEvent,
    freeTexts: ReadonlyArray<string> = [],
  ) => {
    const writer = (await requestOf(client)).createWriter({ ...options, tools: freeTextTools(freeTexts) });
    for (const each of [started, ...before]) writer.write(each);
    let most = 0;
    for (let index = 0; index < pieces; index += 1) {
      writer.write(event);
      most = Math.max(most, writer.keptBytes);
    }
    return { most, end: writer.write({ kind: 'finished', reason: 'stop', stopSequence: null }) + writer.end() };
  };
  const isKept = ({ most }: { readonly most: number }) => most >= 4 * pieces && most < 4 * pieces + 64 * 1024;

  it('becomes one of Responses that has all of its text at the end', async () => {
    const request = await requestOf(openAiResponses.client);
    const stream = new TranslatedStream(
      openAiChat.provider.createReader(plainTarget),
      request.createWriter(options),
      rules,
      true,
    );
    const data = JSON.stringify({ choices: [{ index: 0, delta: { content: 'word' }, finish_reason: null }] });
    for (let index = 0; index < pieces; index += 1) {
      assert.equal(stream.classify(data).kind, 'content');
      stream.translated();
    }
    assert.ok(stream.finish().includes(`"text":"${'word'.repeat(pieces)}"`));
  });

  for (const [what, before, event] of [
    ['reasoning', [], { kind: 'reasoning', text: 'word' }],
    ['arguments', [called(1)], part],
  ] as const)
    it(`keeps the ${what} for Responses`, async () => {
      assert.ok(isKept(await keptWhile(openAiResponses.client, before, event)));
    });

  it('keeps what a chat needs of it: reasoning, and a free text', async () => {
    assert.ok(isKept(await keptWhile(openAiChat.client, [], { kind: 'reasoning', text: 'word' })));
    assert.ok(isKept(await keptWhile(openAiChat.client, [called(1)], part, ['patch'])));
  });
});
