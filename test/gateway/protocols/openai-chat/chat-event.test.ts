import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ChatChunk, ChatProgress, readChatEvent } from '#gateway/protocols/openai-chat/chat-event.ts';

const chunk = (choices: unknown, more: object = {}): ChatChunk => {
  const event = readChatEvent(JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices, ...more }));
  return event.kind === 'chunk' ? event : assert.fail(`it is ${event.kind}`);
};
const says = (delta: object, more: object = {}) => chunk([{ index: 0, delta, finish_reason: null, ...more }]);

describe('parsing an event of a chat stream', () => {
  it('finds content as soon as an event has more than a role', () => {
    for (const delta of [{}, { role: 'assistant' }, { role: 'assistant', content: '', refusal: null, tool_calls: [] }])
      assert.equal(says(delta).hasContent, false, JSON.stringify(delta));
    assert.equal(chunk([], { prompt_filter_results: [{}] }).hasContent, false);
    for (const delta of [
      { content: 'a' },
      { reasoning_content: 'hm' },
      { refusal: 'no' },
      { tool_calls: [{ index: 0 }] },
    ])
      assert.equal(says(delta).hasContent, true, JSON.stringify(delta));
    assert.equal(says({}, { finish_reason: 'stop' }).hasContent, true);
  });

  it('finds text only in an event that holds nothing else', () => {
    assert.equal(says({ content: 'a' }).text, 'a');
    assert.equal(says({ role: 'assistant', content: '' }).text, '');
    for (const other of [
      says({ content: 'a', tool_calls: [{}] }),
      says({ refusal: 'no' }),
      says({ content: 'a' }, { logprobs: { content: [] } }),
      chunk([{ index: 1, delta: { content: 'a' } }]),
    ])
      assert.equal(other.text, null);
  });

  it('takes a list of parts for content, which is not a text that another target could continue', () => {
    const event = says({ content: [{ type: 'text', text: 'a' }] });
    assert.deepEqual([event.hasContent, event.text], [true, null]);
    assert.equal(says({ content: [] }).hasContent, false);
  });

  it('finds the end of a choice only in a reason that says something', () => {
    for (const [reason, ends] of [
      ['stop', true],
      ['eos', true],
      [2, true],
      ['', false],
      ['null', false],
      [false, false],
      [null, false],
    ] as const)
      assert.equal(says({}, { finish_reason: reason }).finished.length === 1, ends, String(reason));
  });

  it('finds errors in every shape that providers use', () => {
    const errors: ReadonlyArray<[string, string, string | null]> = [
      ['{"error":{"message":"m","type":"t","code":"c","param":null}}', 'm', 'c'],
      ['{"error":{"message":"m","code":429},"choices":[]}', 'm', '429'],
      ['{"error":"m"}', 'm', null],
      ['{"object":"error","message":"m","code":40001}', 'm', '40001'],
      ['{"detail":{"status":"quota","message":"m"}}', 'm', 'quota'],
    ];
    for (const [data, message, code] of errors) {
      const event = readChatEvent(data);
      assert.ok(event.kind === 'error', data);
      assert.deepEqual([event.error.message, event.error.code], [message, code]);
    }
    assert.equal(readChatEvent('{"error":null,"choices":[]}').kind, 'chunk');
  });

  it('finds the end mark, empty and malformed events, and never throws', () => {
    assert.equal(readChatEvent('[DONE]').kind, 'done');
    assert.equal(readChatEvent(null).kind, 'empty');
    for (const data of ['{"choices":[{"del', 'oops', '7', 'null', '[]', '{"choices":7}', '{"choices":[7]}'])
      assert.equal(readChatEvent(data).kind, 'malformed', data);
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (data) => void readChatEvent(data)));
  });

  it('counts usage under either name, and recognizes a chunk with only usage', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    assert.deepEqual(chunk([], { usage }).tokens, { input: 3, output: 4 });
    assert.equal(chunk([], { usage }).isUsageOnly, true);
    assert.equal(chunk([{ index: 0, delta: {} }], { usage }).isUsageOnly, false);
    assert.equal(chunk([], { usage: null }).tokens, null);
    assert.deepEqual(chunk([{ index: 0, delta: {} }], { x_groq: { usage } }).tokens, { input: 3, output: 4 });
    assert.deepEqual(chunk([{ index: 0, delta: {}, usage }]).tokens, { input: 3, output: 4 });
    for (const odd of [-1, 1e300, '3', null])
      assert.equal(
        chunk([], { usage: { ...usage, completion_tokens: odd } }).tokens?.output ?? null,
        odd === null ? 4 : null,
      );
  });
});

describe('ChatProgress', () => {
  it('is finished when every requested or seen choice has its finish reason', () => {
    const progress = new ChatProgress(2, false);
    progress.add(chunk([{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }]));
    assert.equal(progress.finished, false);
    progress.add(chunk([{ index: 1, delta: { content: 'a' }, finish_reason: null }]));
    assert.equal(progress.finished, false);
    progress.add(chunk([{ index: 1, delta: {}, finish_reason: 'length' }]));
    assert.equal(progress.finished, true);
    progress.add(chunk([{ index: 2, delta: {} }]));
    assert.equal(progress.finished, false);
  });

  it('keeps the text of a stream while it holds only text', () => {
    const progress = new ChatProgress(1, true);
    progress.add(says({ role: 'assistant', content: '' }));
    progress.add(says({ content: 'Grüß' }));
    progress.add(says({ content: ' Gott' }));
    assert.equal(progress.text, 'Grüß Gott');
    progress.add(says({ tool_calls: [{ index: 0 }] }));
    assert.equal(progress.text, null);
    assert.equal(new ChatProgress(1, false).text, null);
  });
});
