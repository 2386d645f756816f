import assert from 'node:assert/strict';
import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import {
  MessagesAnswerReader,
  readMessagesAnswer,
} from '#gateway/protocols/anthropic-messages/messages-answer-reader.ts';
import type { JsonObject } from '#shared/json/json.ts';

const start = {
  type: 'message_start',
  message: { id: 'm', model: 'up', usage: { input_tokens: 3, output_tokens: 1 } },
};
const begin = (index: number | undefined, block: JsonObject): JsonObject => ({
  type: 'content_block_start',
  ...(index === undefined ? {} : { index }),
  content_block: block,
});
const delta = (index: number | undefined, said: JsonObject): JsonObject => ({
  type: 'content_block_delta',
  ...(index === undefined ? {} : { index }),
  delta: said,
});
const json = (index: number | undefined, text: string) =>
  delta(index, { type: 'input_json_delta', partial_json: text });
const stop = (index?: number): JsonObject => ({
  type: 'content_block_stop',
  ...(index === undefined ? {} : { index }),
});
const end = (reason: string, usage: JsonObject = { output_tokens: 5 }): JsonObject => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null },
  usage,
});
const tool = (name: string, input: JsonObject = {}, id = `toolu_${name}`) => ({ type: 'tool_use', id, name, input });

function read(...events: ReadonlyArray<JsonObject | string>): ReadonlyArray<AnswerEvent> {
  const reader = new MessagesAnswerReader();
  return events.flatMap((event) => reader.read(typeof event === 'string' ? event : JSON.stringify(event)));
}

/** Each call with its arguments, and the order of the events. */
function callsIn(events: ReadonlyArray<AnswerEvent>): ReadonlyArray<readonly [string, string]> {
  return events.flatMap((call) =>
    call.kind === 'tool-call'
      ? [
          [
            call.name,
            events
              .flatMap((each) => (each.kind === 'arguments' && each.index === call.index ? [each.text] : []))
              .join(''),
          ],
        ]
      : [],
  );
}

function whole(content: string, reason = 'end_turn') {
  const body = `{"id":"m","model":"up","content":${content},"stop_reason":"${reason}","usage":{"input_tokens":3,"output_tokens":5}}`;
  return readMessagesAnswer(Buffer.from(body), JSON.parse(body) as JsonObject);
}

describe('reading a stream of Messages', () => {
  it('says where parts begin and end, given blocks of every kind', () => {
    const events = read(
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      stop(0),
      begin(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'hi' }),
      stop(1),
      begin(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      json(2, '{"query":"x"}'),
      stop(2),
      begin(3, tool('f')),
      json(3, '{"a":1}'),
      stop(3),
    );
    assert.deepEqual(events, [
      { kind: 'part-start' },
      { kind: 'part-end', index: null },
      { kind: 'part-start' },
      { kind: 'text', text: 'hi' },
      { kind: 'part-end', index: null },
      { kind: 'part-start' },
      { kind: 'part-end', index: null },
      { kind: 'tool-call', index: 0, id: 'toolu_f', name: 'f', state: null },
      { kind: 'arguments', index: 0, text: '{"a":1}' },
      { kind: 'part-end', index: 0 },
    ]);
  });

  it('reads arguments in the beginning of a block byte for byte, given that no others come', () => {
    const precise = '{"n": 12345678901234567890, "f": 1.0}';
    const begun = JSON.stringify(begin(0, tool('f'))).replace('"input":{}', `"input":${precise}`);
    assert.deepEqual(callsIn(read(begun, stop(0))), [['f', precise]]);
    assert.deepEqual(callsIn(read(begun, end('tool_use'))), [['f', precise]]);
    assert.deepEqual(callsIn(read(begun, begin(0, tool('g')), stop(0))), [
      ['f', precise],
      ['g', ''],
    ]);
  });

  it('reads the pieces alone, given arguments in the beginning and in pieces', () => {
    assert.deepEqual(callsIn(read(begin(0, tool('f', { a: 1 })), json(0, '{"a":'), json(0, '1}'), stop(0))), [
      ['f', '{"a":1}'],
    ]);
  });

  it('ends a call without arguments with the next block or the end, unless the limit of tokens cut it off', () => {
    const begun = [begin(0, tool('f')), json(0, ''), stop(0)];
    const ended = { kind: 'part-end', index: 0 } as const;
    assert.deepEqual(read(...begun).at(-1)?.kind, 'tool-call');
    assert.deepEqual(read(...begun, begin(1, tool('g'))).slice(1, 2), [ended]);
    assert.deepEqual(read(...begun, end('tool_use', {})).slice(1, 2), [ended]);
    assert.deepEqual(read(...begun, end('max_tokens', {})).slice(1), [
      { kind: 'finished', reason: 'length', stopSequence: null },
    ]);
  });

  it('puts pieces to the latest block, given no indexes', () => {
    const events = read(
      begin(undefined, tool('f')),
      json(undefined, '{"a":1}'),
      stop(),
      begin(undefined, { type: 'text', text: '' }),
      json(undefined, 'lost'),
      stop(),
      begin(undefined, tool('g')),
      json(undefined, '{"b":2}'),
      stop(),
    );
    assert.deepEqual(callsIn(events), [
      ['f', '{"a":1}'],
      ['g', '{"b":2}'],
    ]);
  });

  it('gives a piece to its call, given that it comes after the end of the block', () => {
    const late = [begin(0, tool('f')), stop(0), json(0, '{"y":'), json(0, '2}')];
    assert.deepEqual(read(...late, end('tool_use', {})).slice(1, 4), [
      { kind: 'arguments', index: 0, text: '{"y":' },
      { kind: 'arguments', index: 0, text: '2}' },
      { kind: 'part-end', index: 0 },
    ]);
    assert.deepEqual(callsIn(read(begin(0, tool('f')), stop(0), begin(1, tool('g')), json(0, '{"y":2}'))), [
      ['f', '{"y":2}'],
      ['g', ''],
    ]);
  });

  it('gives a piece to its call, given that it comes before the beginning of the block', () => {
    assert.deepEqual(callsIn(read(json(0, '{"y":'), begin(0, tool('f')), json(0, '2}'), stop(0))), [['f', '{"y":2}']]);
    assert.deepEqual(callsIn(read(json(undefined, '{"y":'), begin(undefined, tool('f')), json(undefined, '2}'))), [
      ['f', '{"y":2}'],
    ]);
    const other = begin(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} });
    assert.deepEqual(read(json(0, '{"y":'), other, json(0, '2}'), end('end_turn', {})), [
      { kind: 'part-start' },
      { kind: 'finished', reason: 'stop', stopSequence: null },
    ]);
  });

  it('cannot be translated, given a piece of a call whose block never begins', () => {
    const kinds = (...events: ReadonlyArray<JsonObject>) => read(...events).map(({ kind }) => kind);
    assert.deepEqual(kinds(json(7, '{"y":2}'), end('tool_use', {})), ['unreadable', 'finished']);
    assert.deepEqual(kinds(json(7, '{"y":'), end('max_tokens', {})), ['finished']);
  });

  it('counts the pieces that wait for the beginnings of their blocks', () => {
    const reader = new MessagesAnswerReader();
    for (let index = 0; index < 100; index += 1) reader.read(JSON.stringify(json(index, 'a'.repeat(1_000))));
    assert.ok(reader.keptBytes >= 100_000, String(reader.keptBytes));
    for (let index = 0; index < 100; index += 1) reader.read(JSON.stringify(begin(index, { type: 'text' })));
    assert.ok(reader.keptBytes < 20_000, String(reader.keptBytes));
  });

  it('gives each call an id of its own, given empty and equal ones', () => {
    const events = read(...['', 'x', 'x'].flatMap((id, index) => [begin(index, tool('f', {}, id)), stop(index)]));
    const ids = events.flatMap((event) => (event.kind === 'tool-call' ? [event.id] : []));
    assert.ok(ids.every((id) => id !== ''));
    assert.equal(new Set(ids).size, 3);
  });

  it('cannot be translated, given a call without a name, a text that is none, or a failure as its end', () => {
    assert.deepEqual(read(begin(0, tool(''))), [{ kind: 'unreadable' }]);
    assert.deepEqual(read(delta(0, { type: 'text_delta', text: 7 })), [{ kind: 'unreadable' }]);
    assert.deepEqual(read(end('error', {})), [
      { kind: 'unreadable' },
      { kind: 'finished', reason: 'stop', stopSequence: null },
    ]);
  });

  it('takes what a block begins with, and no empty signature', () => {
    assert.deepEqual(
      read(
        begin(0, { type: 'thinking', thinking: 'hm', signature: '' }),
        delta(0, { type: 'signature_delta', signature: '' }),
        begin(1, { type: 'text', text: 'hi' }),
      ),
      [
        { kind: 'reasoning', text: 'hm' },
        { kind: 'text', text: 'hi' },
      ],
    );
  });

  it('keeps the counts of the first event, given null in the last', () => {
    const last = read(start, end('end_turn', { input_tokens: null, output_tokens: 5 })).find(
      (event) => event.kind === 'usage' && event.tokens.output === 5,
    );
    assert.deepEqual(last, { kind: 'usage', tokens: { input: 3, output: 5 } });
  });

  it('keeps the counts of the first event, given 0 in the last', () => {
    const tokens = read(start, end('end_turn', { input_tokens: 0, output_tokens: 5 })).find(
      (event) => event.kind === 'usage' && event.tokens.output === 5,
    );
    assert.deepEqual(tokens, { kind: 'usage', tokens: { input: 3, output: 5 } });
  });

  it('keeps how much stays in the cache for an hour, given that only the first event says it', () => {
    const written = { cache_creation_input_tokens: 7, cache_creation: { ephemeral_1h_input_tokens: 5 } };
    const usage = { input_tokens: 3, output_tokens: 1, ...written };
    for (const last of [
      { output_tokens: 5 },
      { output_tokens: 5, cache_creation: null },
      { output_tokens: 5, cache_creation: { ephemeral_1h_input_tokens: 0 } },
    ]) {
      const events = read({ type: 'message_start', message: { usage } }, end('end_turn', last));
      const reported = events.findLast((event) => event.kind === 'usage');
      assert.deepEqual(reported?.tokens, { input: 10, output: 5, cacheWrite: 7, cacheWriteHour: 5 });
    }
  });

  it('ends, given the mark of a chat in place of the last event', () => {
    assert.deepEqual(read('[DONE]'), [{ kind: 'end' }]);
  });

  it('starts without an id and a model, given empty ones', () => {
    const empty = { type: 'message_start', message: { id: '', model: '' } };
    assert.deepEqual(read(empty), [{ kind: 'started', id: null, model: null }]);
  });

  for (const [said, reason] of [
    ['end_turn', 'stop'],
    ['stop', 'stop'],
    ['tool_use', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['refusal', 'filtered'],
  ] as const)
    it(`ends with ${reason}, given ${said} without a call`, () => {
      assert.deepEqual(read(end(said, {})), [{ kind: 'finished', reason, stopSequence: null }]);
      assert.equal(whole('[]', said)?.reason, reason);
    });
});

describe('reading a whole answer of Messages', () => {
  it('takes a content that is a text', () => {
    assert.deepEqual(whole('"hi"')?.parts, [{ kind: 'text', text: 'hi' }]);
  });

  it('takes arguments byte for byte, given an object or its text', () => {
    const precise = '{"n": 1.0}';
    const block = (input: string) => `{"type":"tool_use","id":"","name":"f","input":${input}}`;
    const parts =
      whole(`[${block(precise)},${block(JSON.stringify(precise))},${block('null')}]`, 'tool_use')?.parts ?? [];
    assert.deepEqual(
      parts.map((part) => part.kind === 'tool-call' && part.arguments),
      [precise, precise, '{}'],
    );
    assert.equal(new Set(parts.map((part) => part.kind === 'tool-call' && part.id)).size, 3);
  });

  it('has no empty signature and no empty thought', () => {
    assert.deepEqual(
      whole('[{"type":"thinking","thinking":"hm"},{"type":"thinking","thinking":"","signature":""}]')?.parts,
      [{ kind: 'reasoning', text: 'hm', signature: null }],
    );
  });

  it('leaves out a last call, given that the limit of tokens ended the answer', () => {
    const content =
      '[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"g","input":{"a":1}}]';
    const names = (reason: string, blocks = content) =>
      whole(blocks, reason)?.parts.map((part) => part.kind === 'tool-call' && part.name);
    assert.deepEqual(names('tool_use'), ['f', 'g']);
    assert.deepEqual(names('max_tokens'), ['f']);
    assert.deepEqual(names('max_tokens', content.replace(']', ',{"type":"text","text":""}]')), ['f', 'g', false]);
  });

  it('is refused, given a block that cannot be read', () => {
    for (const content of ['["hi"]', '[{"type":"text","text":7}]', '[{"type":"tool_use","id":"x","input":{}}]', '7'])
      assert.equal(whole(content), null, content);
  });
});
