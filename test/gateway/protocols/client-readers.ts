import assert from 'node:assert/strict';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import type { ProtocolName } from './arbitrary-answers.ts';

/** What a client has read of a stream. */
export interface ReadAnswer {
  readonly text: string;
  /** Null if the client keeps none. */
  readonly reasoning: string | null;
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: string }>;
}

type Call = { -readonly [Member in keyof ReadAnswer['calls'][number]]: string };

/** Reads streams as strict clients of each protocol do: they allow one open part at a time. */
export const clientReaders: Readonly<Record<ProtocolName, (stream: string) => ReadAnswer>> = {
  'openai-chat': readChat,
  'anthropic-messages': readMessages,
  'openai-responses': readResponses,
};

function dataOf(stream: string): ReadonlyArray<string> {
  const frames = stream.split('\n\n').filter((frame) => frame !== '');
  return frames.map((frame) => frame.slice(frame.indexOf('data: ') + 'data: '.length));
}

function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : assert.fail(`no object: ${JSON.stringify(value)}`);
}

const listIn = (value: unknown) => value as ReadonlyArray<JsonObject>;

function readChat(stream: string): ReadAnswer {
  const data = dataOf(stream);
  assert.equal(data.at(-1), '[DONE]');
  const chunks = data.slice(0, -1).map((each) => objectIn(JSON.parse(each)));
  assert.match(String(chunks[0]?.id), /^chatcmpl-[\w-]+$/);
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  const choices = chunks.flatMap(({ choices: some }) => listIn(some));
  assert.deepEqual(
    choices.findIndex(({ finish_reason: reason }) => reason !== null),
    choices.length - 1,
  );
  const read = { text: '', reasoning: '', calls: [] as Call[] };
  for (const { delta } of choices) addDelta(read, objectIn(delta));
  return read;
}

function addDelta(read: { text: string; reasoning: string; calls: Call[] }, delta: JsonObject): void {
  read.text += delta.content ?? '';
  read.reasoning += delta.reasoning_content ?? '';
  for (const { index, id, function: asked } of listIn(delta.tool_calls ?? [])) {
    const { name, arguments: given } = objectIn(asked);
    if (id !== undefined) {
      assert.equal(index, read.calls.length);
      read.calls.push({ id: String(id), name: String(name), arguments: '' });
    }
    assert.equal(index, read.calls.length - 1);
    (read.calls.at(-1) as Call).arguments += given;
  }
}

function readMessages(stream: string): ReadAnswer {
  const events = dataOf(stream).map((each) => objectIn(JSON.parse(each)));
  assert.match(String(objectIn(events[0]?.message).id), /^msg_[\w-]+$/);
  assert.deepEqual(
    events.slice(-2).map(({ type }) => type),
    ['message_delta', 'message_stop'],
  );
  const read = { text: '', reasoning: '', calls: [] as Call[] };
  let begun = 0;
  let open: string | null = null;
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') {
      assert.deepEqual([index, open], [begun, null]);
      begun += 1;
      const { type: kind, id, name } = objectIn(block);
      open = String(kind);
      if (open === 'tool_use') read.calls.push({ id: String(id), name: String(name), arguments: '' });
    } else if (type === 'content_block_delta') {
      assert.equal(index, begun - 1);
      addBlockDelta(read, open, objectIn(delta));
    } else if (type === 'content_block_stop') {
      assert.equal(index, begun - 1);
      assert.notEqual(open, null);
      open = null;
    }
  }
  assert.equal(open, null);
  return read;
}

function addBlockDelta(
  read: { text: string; reasoning: string; calls: Call[] },
  open: string | null,
  { type, text, thinking, partial_json: given }: JsonObject,
): void {
  const deltas = { text: 'text_delta', thinking: 'thinking_delta', tool_use: 'input_json_delta' };
  if (open === 'thinking' && type === 'signature_delta') return;
  assert.equal(type, deltas[open as keyof typeof deltas]);
  read.text += text ?? '';
  read.reasoning += thinking ?? '';
  if (open === 'tool_use') (read.calls.at(-1) as Call).arguments += given;
}

function readResponses(stream: string): ReadAnswer {
  const events = dataOf(stream).map((each) => objectIn(JSON.parse(each)));
  assert.deepEqual(
    events.map(({ sequence_number: number }) => number),
    [...events.keys()],
  );
  const done: JsonObject[] = [];
  let open: string | null = null;
  let said = '';
  for (const { type, output_index: index, item, item_id: itemId, delta } of events) {
    if (type === 'response.output_item.added') {
      assert.deepEqual([index, open], [done.length, null]);
      open = String(objectIn(item).id);
      said = '';
    } else if (type === 'response.output_item.done') {
      assert.deepEqual([index, objectIn(item).id], [done.length, open]);
      assert.equal(textOf(objectIn(item)), said);
      done.push(objectIn(item));
      open = null;
    } else if (itemId !== undefined) assert.equal(itemId, open);
    said += delta ?? '';
  }
  const last = events.at(-1) as JsonObject;
  const response = objectIn(last.response);
  assert.deepEqual([last.type, response.output], ['response.completed', done]);
  assert.match(String(response.id), /^resp_\w+$/);
  return answerIn(done);
}

const prefixes: Readonly<Record<string, string>> = { message: 'msg_', reasoning: 'rs_', function_call: 'fc_' };

/** What the items of a response say. */
export function answerIn(items: ReadonlyArray<JsonObject>): ReadAnswer {
  for (const { id, type } of items) assert.ok(String(id).startsWith(prefixes[String(type)] ?? '?'), String(id));
  const saidBy = (kind: string) => items.flatMap((item) => (item.type === kind ? [textOf(item)] : [])).join('');
  const calls = items.filter(({ type }) => type === 'function_call');
  return {
    text: saidBy('message'),
    reasoning: saidBy('reasoning'),
    calls: calls.map((item) => ({ id: String(item.call_id), name: String(item.name), arguments: textOf(item) })),
  };
}

function textOf({ arguments: given, content, summary }: JsonObject): string {
  if (typeof given === 'string') return given;
  return listIn(content ?? summary)
    .map(({ text }) => text)
    .join('');
}
