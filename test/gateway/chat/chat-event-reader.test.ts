import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readChatEvent } from '#gateway/chat/chat-event.ts';
import { ChatEventReader } from '#gateway/chat/chat-event-reader.ts';
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
);

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
