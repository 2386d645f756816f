import assert from 'node:assert/strict';
import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import { ChatAnswerReader, readChatAnswer } from '#gateway/protocols/openai-chat/chat-answer-reader.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { joined } from '#test/gateway/protocols/arbitrary-answers.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';

const common = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' };
const chunk = (delta: JsonObject, finish: Json = null, more: JsonObject = {}): JsonObject => ({
  ...common,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});

/** Reads a stream, and returns what follows its start. */
function streamed(...chunks: ReadonlyArray<JsonObject | string>): ReadonlyArray<AnswerEvent> {
  const reader = new ChatAnswerReader(plainTarget);
  const events = chunks.flatMap((each) => reader.read(typeof each === 'string' ? each : JSON.stringify(each)));
  return joined(events.filter(({ kind }) => kind !== 'started'));
}

function whole(message: JsonObject, finish: Json = 'stop', more: JsonObject = {}) {
  const value = { ...common, choices: [{ index: 0, message, finish_reason: finish }], ...more };
  return readChatAnswer(Buffer.from(JSON.stringify(value)), value, plainTarget);
}

/** What a message says in each way of sending it, and what is read of it; null if it cannot be. */
const messages: ReadonlyArray<readonly [string, JsonObject, ReadonlyArray<readonly [string, string]> | null]> = [
  ['a text', { content: 'hello' }, [['text', 'hello']]],
  ['no content', { content: null, reasoning: null, refusal: null }, []],
  ['an empty list', { content: [] }, []],
  [
    'the thinking and the text of Mistral',
    {
      content: [
        {
          type: 'thinking',
          thinking: [
            { type: 'text', text: 'h' },
            { type: 'reference', reference_ids: [1] },
            { type: 'text', text: 'm' },
          ],
        },
        { type: 'text', text: 'hel' },
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: 'lo' },
      ],
    },
    [
      ['reasoning', 'hm'],
      ['text', 'hello'],
    ],
  ],
  ['thinking as one text', { content: [{ type: 'thinking', thinking: 'hm' }] }, [['reasoning', 'hm']]],
  [
    'the reasoning of Databricks',
    {
      content: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'text', text: 'hello' },
      ],
    },
    [
      ['reasoning', 'hm'],
      ['text', 'hello'],
    ],
  ],
  ['parts of the type of Responses', { content: [{ type: 'output_text', text: 'hello' }] }, [['text', 'hello']]],
  ['texts in a list', { content: ['hel', 'lo'] }, [['text', 'hello']]],
  ['one part', { content: { type: 'text', text: 'hello' } }, [['text', 'hello']]],
  ['an object with a text', { content: { text: 'hello' } }, [['text', 'hello']]],
  ['a part that refuses', { content: [{ type: 'refusal', refusal: 'no' }] }, [['refusal', 'no']]],
  ['a refusal', { content: null, refusal: 'no' }, [['refusal', 'no']]],
  ...['reasoning_content', 'reasoning', 'thinking'].map(
    (name) => [name, { [name]: 'hm', content: '' }, [['reasoning', 'hm']]] as const,
  ),
  ['the same reasoning twice', { reasoning_content: 'hm', reasoning: 'hm' }, [['reasoning', 'hm']]],
  [
    'reasoning in details alone',
    {
      reasoning_details: [
        { type: 'reasoning.text', text: 'h' },
        { type: 'reasoning.encrypted', data: 'x' },
        { type: 'reasoning.summary', summary: 'm' },
      ],
    },
    [['reasoning', 'hm']],
  ],
  ['a picture', { content: [{ type: 'image_url', image_url: { url: 'https://x.example' } }] }, null],
  ['a part without a text', { content: [{ x: 1 }] }, null],
  ['an empty object', { content: {} }, null],
  ['an empty part', { content: [{ type: 'text', text: null }] }, []],
  ['a number', { content: 7 }, null],
  ['pictures beside it', { content: null, images: [{ type: 'image_url' }] }, null],
  ['audio beside it', { content: null, audio: { data: '' } }, null],
  ['a list of numbers', { content: [7] }, null],
];

describe('reading an answer of a provider of chats', () => {
  for (const [what, message, parts] of messages) {
    it(`given ${what}, reads it from a stream`, () => {
      const events = streamed(chunk(message)).map((event) =>
        'text' in event ? [event.kind, event.text] : [event.kind],
      );
      assert.deepEqual(events, parts ?? [['unreadable']]);
    });

    it(`given ${what}, reads it from a whole answer`, () => {
      const read = whole(message);
      const texts = read?.parts.reduce<[string, string][]>((all, part) => {
        assert.ok('text' in part);
        const last = all.at(-1);
        if (last?.[0] === part.kind) last[1] += part.text;
        else all.push([part.kind, part.text]);
        return all;
      }, []);
      assert.deepEqual(texts ?? null, parts);
    });
  }

  const precise = '{"n": 12345678901234567890, "f": 1.0}';
  const calls: ReadonlyArray<readonly [string, string, ReadonlyArray<readonly [string, string]>]> = [
    [
      'an object as arguments',
      `{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":${precise}}}]}`,
      [['f', precise]],
    ],
    ['arguments beside a name', `{"tool_calls":[{"id":"c1","name":"f","arguments":${precise}}]}`, [['f', precise]]],
    [
      'one call that is in no list',
      `{"tool_calls":{"id":"c1","function":{"name":"f","arguments":${precise}}}}`,
      [['f', precise]],
    ],
    [
      'objects and texts as arguments',
      `{"tool_calls":[{"function":{"name":"f","arguments":${precise}}},{"function":{"name":"g","arguments":"{\\"a\\":1}"}}]}`,
      [
        ['f', precise],
        ['g', '{"a":1}'],
      ],
    ],
    [
      'a call of older providers',
      `{"content":null,"function_call":{"name":"f","arguments":"{\\"a\\":1}"}}`,
      [['f', '{"a":1}']],
    ],
    [
      'an object in a call of older providers',
      `{"function_call":{"name":"f","arguments":${precise}}}`,
      [['f', precise]],
    ],
    [
      'calls without ids',
      `{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"id":"","function":{"name":"f","arguments":"{}"}}]}`,
      [
        ['f', '{}'],
        ['f', '{}'],
      ],
    ],
    [
      'equal ids',
      `{"tool_calls":[{"id":"c","index":0,"function":{"name":"f","arguments":"{}"}},{"id":"c","index":1,"function":{"name":"f","arguments":"{}"}}]}`,
      [
        ['f', '{}'],
        ['f', '{}'],
      ],
    ],
  ];
  for (const [what, message, expected] of calls) {
    it(`given ${what}, moves the arguments of a stream as they came`, () => {
      const reader = new ChatAnswerReader(plainTarget);
      const events = reader.read(`{"id":"c","choices":[{"index":0,"delta":${message}}]}`);
      const begun = events.flatMap((event) => (event.kind === 'tool-call' ? [event] : []));
      const given = begun.map(({ index, name }) => [
        name,
        events.flatMap((event) => (event.kind === 'arguments' && event.index === index ? [event.text] : [])).join(''),
      ]);
      assert.deepEqual(given, expected);
      assert.equal(new Set(begun.map(({ id }) => id).filter((id) => id !== '')).size, expected.length);
    });

    it(`given ${what}, moves the arguments of a whole answer as they came`, () => {
      const body = `{"id":"c","choices":[{"index":0,"message":${message},"finish_reason":"tool_calls"}]}`;
      const parts = readChatAnswer(Buffer.from(body), JSON.parse(body), plainTarget)?.parts ?? [];
      const read = parts.flatMap((part) => (part.kind === 'tool-call' ? [part] : []));
      assert.deepEqual(
        read.map((part) => [part.name, part.arguments]),
        expected,
      );
      assert.equal(new Set(read.map(({ id }) => id).filter((id) => id !== '')).size, expected.length);
    });
  }

  it('given a call without a name, refuses it unless the answer was cut off', () => {
    const call = { tool_calls: [{ index: 0, id: 'c1', function: { arguments: '{"a":1}' } }] };
    assert.deepEqual(streamed(chunk(call), chunk({}, 'tool_calls')), [{ kind: 'unreadable' }]);
    assert.deepEqual(streamed(chunk(call), chunk({}, 'length')), [
      { kind: 'finished', reason: 'length', stopSequence: null },
    ]);
    assert.equal(whole(call, 'tool_calls'), null);
    assert.deepEqual(whole(call, 'length')?.parts, []);
  });

  const called = { tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] };
  const reasons: ReadonlyArray<readonly [Json, JsonObject, string]> = [
    ...['stop', 'eos', 'eos_token', 'end_turn', 'STOP', 'tool_calls', 'something_new', 2].map(
      (said) => [said, { content: 'x' }, 'stop'] as const,
    ),
    ...['tool_calls', 'tool_use', 'function_call', 'stop', 'end_turn', 'TOOL_CALLS'].map(
      (said) => [said, called, 'tool-calls'] as const,
    ),
    ...['length', 'max_tokens', 'MAX_TOKENS', 'model_length', 'max-tokens'].map(
      (said) => [said, called, 'length'] as const,
    ),
    ...[
      ...['content_filter', 'content-filter', 'SAFETY', 'sensitive', 'refusal', 'IMAGE_SAFETY', 'ERROR_TOXIC'],
      ...['content_filter: PROHIBITED_CONTENT', 'content_filter: RECITATION'],
    ].map((said) => [said, { content: 'x' }, 'filtered'] as const),
  ];
  for (const [said, message, reason] of reasons)
    it(`given an answer ${'tool_calls' in message ? 'with a call ' : ''}that ends with ${JSON.stringify(said)}, says ${reason}`, () => {
      assert.deepEqual(streamed(chunk(message), chunk({}, said)).at(-1), {
        kind: 'finished',
        reason,
        stopSequence: null,
      });
      assert.equal(whole(message, said)?.reason, reason);
    });

  it('given an answer that failed at its provider, is an error', () => {
    for (const said of [
      'error',
      'network_error',
      'insufficient_system_resource',
      'function_call_filter: MALFORMED_FUNCTION_CALL',
      'function_call_filter: UNEXPECTED_TOOL_CALL',
      'UNEXPECTED_TOOL_CALL',
    ]) {
      assert.equal(streamed(chunk({ content: 'x' }), chunk({}, said)).at(-1)?.kind, 'error', said);
      assert.equal(whole({ content: 'x' }, said), null, said);
    }
  });

  it('given a choice without a message, reads an empty answer if it says why it ended', () => {
    const wholeOf = (choice: JsonObject) => {
      const value = { ...common, choices: [{ index: 0, ...choice }] };
      return readChatAnswer(Buffer.from(JSON.stringify(value)), value, plainTarget);
    };
    const { parts, reason } = wholeOf({ finish_reason: 'content_filter: PROHIBITED_CONTENT' }) ?? {};
    assert.deepEqual([parts, reason], [[], 'filtered']);
    assert.deepEqual(wholeOf({ finish_reason: 'stop', message: null })?.parts, []);
    for (const other of [{}, { finish_reason: null }, { finish_reason: 'stop', message: 'x' }])
      assert.equal(wholeOf(other), null, JSON.stringify(other));
  });

  it('given a finish reason that says nothing in each chunk, does not end the answer', () => {
    for (const said of ['', null, 'null', false])
      assert.deepEqual(
        streamed(chunk({ content: 'x' }, said), '[DONE]').map(({ kind }) => kind),
        ['text', 'end'],
      );
  });

  it('given a whole answer as the only chunk of a stream, reads it', () => {
    const choices = [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }];
    assert.deepEqual(streamed({ ...common, choices }), [
      { kind: 'text', text: 'hello' },
      { kind: 'finished', reason: 'stop', stopSequence: null },
    ]);
    assert.deepEqual(streamed(chunk({ content: 'hello' }), { ...common, choices })[0], { kind: 'text', text: 'hello' });
  });

  it('given a whole message at the end of a stream, reads what was not said', () => {
    const asked = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    const message = { content: 'hello', reasoning_content: 'hm', tool_calls: [asked] };
    const last = { ...common, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const call = [
      { kind: 'tool-call', index: 0, id: 'c1', name: 'f', state: null },
      { kind: 'arguments', index: 0, text: '{"a":1}' },
    ];
    const end = { kind: 'finished', reason: 'tool-calls', stopSequence: null };
    const said = { kind: 'text', text: 'hello' };
    const thought = [
      { kind: 'reasoning', text: 'hm' },
      { kind: 'signature', signature: { of: 'p/m', value: '{}', isRedacted: false } },
    ];
    assert.deepEqual(streamed(chunk({ content: 'hello' }), last), [said, ...thought, ...call, end]);
    assert.deepEqual(streamed(chunk({ tool_calls: [{ index: 0, ...asked }] }), last), [...call, ...thought, said, end]);
  });

  it('given several choices, reads the one whose index is 0 or missing', () => {
    const choice = (index: number | undefined, content: string, member: 'delta' | 'message') => ({
      ...(index === undefined ? {} : { index }),
      ...{ [member]: { content }, finish_reason: member === 'delta' ? null : 'stop' },
    });
    const said = [{ kind: 'text', text: 'A' }];
    for (const first of [0, undefined]) {
      const choices = [choice(1, 'B', 'delta'), choice(first, 'A', 'delta')];
      assert.deepEqual(streamed({ ...common, choices }), said);
      assert.deepEqual(streamed(...choices.map((each) => ({ ...common, choices: [each] }))), said);
      const value = { ...common, choices: [choice(1, 'B', 'message'), choice(first, 'A', 'message')] };
      assert.deepEqual(readChatAnswer(Buffer.from(JSON.stringify(value)), value, plainTarget)?.parts, said);
    }
  });

  it('given a call of which only an id came, leaves it out', () => {
    const call = { tool_calls: [{ index: 0, id: 'c1', function: { arguments: '' } }] };
    const finished = { kind: 'finished', reason: 'stop', stopSequence: null };
    assert.deepEqual(streamed(chunk(call), chunk({}, 'tool_calls')), [finished]);
    const { parts, reason } = whole(call, 'tool_calls') ?? {};
    assert.deepEqual([parts, reason], [[], 'stop']);
  });

  const started = (...chunks: ReadonlyArray<JsonObject>) => {
    const reader = new ChatAnswerReader(plainTarget);
    return chunks.flatMap((each) => reader.read(JSON.stringify(each))).filter(({ kind }) => kind !== 'text');
  };

  it('given the first chunk of Azure, starts with the id and the model of the next', () => {
    const filtered = { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] };
    assert.deepEqual(started(filtered, chunk({ role: 'assistant', content: '' })), [
      { kind: 'started', id: 'c', model: 'up' },
    ]);
  });

  it('given no id in any chunk, starts before the first content without one', () => {
    const nameless = { ...chunk({ role: 'assistant' }), id: '', model: '' };
    const speaking = { ...chunk({ content: 'x' }), id: '', model: 'late' };
    assert.deepEqual(started(nameless, speaking, speaking), [{ kind: 'started', id: null, model: 'late' }]);
    assert.deepEqual(
      [whole({ content: 'x' }, 'stop', { id: '', model: '' })].map((read) => [read?.id, read?.model]),
      [[null, null]],
    );
  });

  it('given a text with what its message needs back, signs it before what follows in the same chunk', () => {
    const signed = { content: 'Hi', extra_content: { google: { thought_signature: 'x' } } };
    const call = { index: 0, id: 'c1', function: { name: 'f', arguments: '{}' } };
    const kinds = (...chunks: ReadonlyArray<JsonObject>) => streamed(...chunks).map(({ kind }) => kind);
    assert.deepEqual(kinds(chunk(signed, 'stop')), ['text', 'signature', 'finished']);
    assert.deepEqual(kinds(chunk(signed), chunk(signed), chunk({}, 'stop')), ['text', 'signature', 'finished']);
    assert.deepEqual(kinds(chunk({ ...signed, tool_calls: [call] }, 'tool_calls')), [
      ...['text', 'signature', 'tool-call', 'arguments', 'finished'],
    ]);
  });

  it('given usage in `x_groq` or in the choice, finds it', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    const tokens = { input: 3, output: 4 };
    const inChoice = { choices: [{ index: 0, delta: {}, finish_reason: null, usage }] };
    for (const more of [{ usage }, { x_groq: { usage } }, inChoice])
      assert.deepEqual(streamed(chunk({}, null, more)).at(-1), { kind: 'usage', tokens }, JSON.stringify(more));
    assert.deepEqual(whole({ content: 'x' }, 'stop', { x_groq: { usage } })?.tokens, tokens);
  });
});
