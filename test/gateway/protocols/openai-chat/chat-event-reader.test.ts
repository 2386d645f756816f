import assert from 'node:assert/strict';
import { mock } from 'node:test';
import fc from 'fast-check';
import { readChatEvent } from '#gateway/protocols/openai-chat/chat-event.ts';
import { ChatEventReader } from '#gateway/protocols/openai-chat/chat-event-reader.ts';
import { itInRounds } from '#test/support/run/long.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', 'Hi', '"', '\\', '\n', '","x":"', '"}}],"error":{"message":"x"},"y":[{"z":{"', '\u0000', 'ü'),
);
const delta = fc.oneof(
  text.map((content) => ({ content })),
  fc.constantFrom({}, { role: 'assistant', content: '' }, { tool_calls: [{ index: 0 }] }, { refusal: 'no' }),
);
const chunk = fc
  .record(
    {
      x: fc.option(text.map((content) => ({ content }))),
      choices: fc.array(
        fc.record({ index: fc.constantFrom(0, 0, 0, 1), delta, finish_reason: fc.constantFrom(null, null, 'stop') }),
        { maxLength: 2 },
      ),
      usage: fc.constantFrom(null, { prompt_tokens: 1, completion_tokens: 2 }),
      error: fc.constantFrom(undefined, undefined, undefined, { message: 'm' }),
    },
    { requiredKeys: ['choices'] },
  )
  .chain((value) =>
    // Spelled with and without white space, so that similar events must be distinguished.
    fc
      .boolean()
      .map((spaced) =>
        spaced ? JSON.stringify(value).replaceAll('"content":', '"content" :') : JSON.stringify(value),
      ),
  );
const data = fc.oneof(chunk, chunk, fc.constantFrom(null, '', '[DONE]', '{', 'oops'), fc.string());

/** An event, and others that differ from it only in the bytes between two places. */
const stream = fc.oneof(
  fc.array(data, { maxLength: 12 }),
  fc
    .array(text, { minLength: 2, maxLength: 8 })
    .map((texts) =>
      texts.map((content) =>
        JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
      ),
    ),
  fc
    .tuple(text, fc.array(fc.string({ maxLength: 6 })))
    .map(([first, raws]) => [
      JSON.stringify({ choices: [{ index: 0, delta: { content: first }, finish_reason: null }] }),
      ...raws.map((raw) => `{"choices":[{"index":0,"delta":{"content":"${raw}"},"finish_reason":null}]}`),
    ]),
  fc.array(fc.tuple(text, text, fc.boolean()), { minLength: 3, maxLength: 8 }).map((pairs) =>
    pairs.map(([content, obfuscation, isInDelta]) =>
      JSON.stringify({
        choices: [{ index: 0, delta: { content, ...(isInDelta ? { obfuscation } : {}) }, finish_reason: null }],
        ...(isInDelta ? {} : { obfuscation }),
      }),
    ),
  ),
  // Raw bytes in the place of the text and of the obfuscation: escapes, quotes and control characters.
  fc
    .array(fc.tuple(fc.string({ maxLength: 4 }), fc.string({ maxLength: 4 })))
    .map((pairs) =>
      [['Hi', 'a'] as const, ['Ho', 'b'] as const, ...pairs].map(
        ([raw, padding]) =>
          `{"choices":[{"index":0,"delta":{"content":"${raw}"},"finish_reason":null}],"obfuscation":"${padding}"}`,
      ),
    ),
);

/** Events that differ in their text, and in what is given besides. */
const chunks = (count: number, more: (index: number) => object) =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      id: 'c',
      choices: [{ index: 0, delta: { content: ` word${index}` }, finish_reason: null }],
      usage: null,
      ...more(index),
    }),
  );

/** Reads a stream, and returns how many texts were parsed for it. */
const countParsed = (events: ReadonlyArray<string>): number => {
  const parse = mock.method(JSON, 'parse');
  try {
    const reader = new ChatEventReader();
    for (const event of events) reader.read(event);
    return parse.mock.callCount();
  } finally {
    parse.mock.restore();
  }
};

describe('ChatEventReader', () => {
  itInRounds('reads every event as the plain parser does', { few: 500, many: 20_000 }, (numRuns) => {
    fc.assert(
      fc.property(stream, (events) => {
        const reader = new ChatEventReader();
        for (const event of events) assert.deepEqual(reader.read(event), readChatEvent(event), String(event));
      }),
      { numRuns },
    );
  });

  it('parses only the first events of a stream whose events carry an obfuscation of any length', () => {
    const events = chunks(200, (index) => ({ obfuscation: 'xY3'.repeat(index % 5) }));
    assert.ok(countParsed(events) <= 4, `${countParsed(events)} texts were parsed`);
  });

  it('parses each event once when every event has other bytes around its text', () => {
    const parsed = countParsed(chunks(200, (index) => ({ number: index })));
    assert.ok(parsed <= 220, `${parsed} texts were parsed`);
  });

  it('reads events fast again after a few that differ', () => {
    const parsed = countParsed(chunks(200, (index) => ({ created: Math.floor(index / 50) })));
    assert.ok(parsed <= 20, `${parsed} texts were parsed`);
  });

  it('does not take an obfuscation inside the added text for padding', () => {
    const reader = new ChatEventReader();
    const event = (obfuscation: string) =>
      `{"choices":[{"index":0,"delta":{"content":"Hi","obfuscation":"${obfuscation}"},"finish_reason":null}]}`;
    for (const obfuscation of ['', '', 'a', ''])
      assert.deepEqual(reader.read(event(obfuscation)), readChatEvent(event(obfuscation)));
  });

  it('does not take an event that ends inside its obfuscation for a whole one', () => {
    const reader = new ChatEventReader();
    const event = (padding: string) =>
      `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"obfuscation":"${padding}}`;
    for (const padding of ['a"', 'b"', 'c"', '"', '', 'a', 'a"'])
      assert.deepEqual(reader.read(event(padding)), readChatEvent(event(padding)), padding);
  });

  it('ignores another member of the same name', () => {
    const reader = new ChatEventReader();
    const event = (other: string, content: string) =>
      `{"x":{"content":"${other}"},"choices":[{"index":0,"delta":{"content" :"${content}"},"finish_reason":null}]}`;
    for (const [other, content] of [
      ['Hi', 'Hi'],
      ['Ho', 'Hi'],
      ['Hi', 'Ho'],
    ] as const)
      assert.deepEqual(reader.read(event(other, content)), readChatEvent(event(other, content)));
  });
});
