import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import type { Answer } from '#gateway/neutral/answer.ts';
import { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { Part } from '#gateway/neutral/conversation.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { Replay } from '#gateway/protocols/openai-responses/replay.ts';
import { rewriteEvent, rewriteResponse } from '#gateway/protocols/openai-responses/rewrite-response.ts';
import type { TextRequest } from '#gateway/protocols/protocol.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import { answers, eventsOf } from '#test/gateway/protocols/arbitrary-answers.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { chatRules } from '#test/gateway/support/strict-chat.ts';
import { messagesRules, signatureOf } from '#test/gateway/support/strict-messages.ts';
import { eventsOfResponse, openAiResponse, responsesRules } from '#test/gateway/support/strict-responses.ts';

const runs = { numRuns: 200 };
const options = { model: 'm', isContinuation: false, tools: new ClientTools([]) };
const target = { ...plainTarget, reasoning: true };

async function requestOf(body: object): Promise<TextRequest> {
  const read = await openAiResponses.client.read(Buffer.from(JSON.stringify(body)), 1_000_000);
  return E.isRight(read) ? read.right : assert.fail(read.left.detail);
}

function eventsIn(text: string): ReadonlyArray<JsonObject> {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 'data: '.length)));
}

/** Without what differs between two writings of the same answer. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isObject(value)) return value;
  const { id: _, created_at: __, completed_at: ___, item_id: ____, ...others } = value;
  return Object.fromEntries(Object.entries(others).map(([name, member]) => [name, comparable(member)]));
}

/** With the signature that the strict provider of Messages knows. */
function signed(answer: Answer): Answer {
  const parts = answer.parts.map((part) => {
    if (part.kind !== 'reasoning') return part;
    return { ...part, signature: { of: 'anthropic-messages', value: signatureOf(part.text), isRedacted: false } };
  });
  return { ...answer, parts };
}

function writeReplay(response: JsonObject, after: number | null): string {
  const replay = new Replay(after);
  const text = JSON.stringify(response);
  const begun = [...replay.begin(text)];
  const items = outputOf(response).flatMap((item) => [...replay.item(item)]);
  return [...begun, ...items, replay.end(text, response.status)].join('');
}

const outputOf = (response: JsonObject) => response.output as ReadonlyArray<JsonObject>;

describe('Responses of any answer', () => {
  let request: TextRequest;
  before(async () => {
    request = await requestOf({ model: 'm', input: 'hi' });
  });

  const written = (answer: Answer) => {
    const writer = request.createWriter(options);
    const frames = Array.from(eventsOf(answer), (event) => (event.kind === 'end' ? writer.end() : writer.write(event)));
    return eventsIn(frames.join(''));
  };
  const wholeOf = (answer: Answer): JsonObject => JSON.parse(request.writeWhole(answer, options).toString());

  it('say the same as a stream and as a whole, with numbers without a gap', () => {
    fc.assert(
      fc.property(answers('anthropic-messages'), (answer) => {
        const events = written(answer);
        assert.deepEqual(
          events.map(({ sequence_number: number }) => number),
          events.map((_, index) => index),
        );
        const last = events.at(-1)?.response as JsonObject;
        assert.deepEqual(comparable(last), comparable(wholeOf(answer)));
        const deltas = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
        const said = answer.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
        assert.equal(deltas.join(''), said.join(''));
        const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
        assert.deepEqual(done, outputOf(last), 'each item is complete once, in order');
      }),
      runs,
    );
  });

  it('are replayed with the same items', () => {
    fc.assert(
      fc.property(answers('anthropic-messages'), fc.nat(30), (answer, after) => {
        const response = wholeOf(answer);
        const events = eventsIn(writeReplay(response, null));
        const shown = (all: ReadonlyArray<JsonObject>) =>
          all.filter(({ type }) => String(type).endsWith('.done')).map(comparable);
        const withoutNumbers = (all: ReadonlyArray<unknown>) =>
          all.map((event) => ({ ...(event as object), sequence_number: 0 }));
        assert.deepEqual(withoutNumbers(shown(events)), withoutNumbers(shown(written(answer))));
        const last = { ...(events.at(-1) as object), sequence_number: after + 1 };
        const later = after + 1 < events.length ? events.slice(after + 1) : [last];
        assert.deepEqual(eventsIn(writeReplay(response, after)), later);
      }),
      runs,
    );
  });

  it('come back as input without a loss', async () => {
    await fc.assert(
      fc.asyncProperty(answers('anthropic-messages'), async (answer) => {
        const again = await requestOf({ model: 'm', input: outputOf(wholeOf(answer)) });
        const parsed = await again.parse(1_000_000);
        assert.ok(E.isRight(parsed));
        const parts = parsed.right.conversation.turns.flatMap((turn) => turn.parts);
        const withoutPlace = ({ pointer: _, ...part }: Part) => part;
        assert.deepEqual(parts.map(withoutPlace), answer.parts);
      }),
      runs,
    );
  });

  it('are part of a conversation that every provider takes', async () => {
    const rules = { 'openai-chat': chatRules, 'anthropic-messages': messagesRules } as const;
    await fc.assert(
      fc.asyncProperty(answers('anthropic-messages').map(signed), fc.boolean(), async (answer, hasTools) => {
        const output = outputOf(wholeOf(answer));
        const results = output
          .filter(({ type }) => type === 'function_call')
          .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'done' }));
        const ids = new Set(results.map(({ call_id }) => call_id));
        // Providers refuse two calls with one id.
        fc.pre(ids.size === results.length);
        const names = [
          ...new Set(output.flatMap(({ type, name }) => (type === 'function_call' ? [String(name)] : []))),
        ];
        const tools = names.map((name) => ({ type: 'function', name, parameters: { type: 'object', properties: {} } }));
        const input = [{ role: 'user', content: 'hi' }, ...output, ...results, { role: 'user', content: 'more' }];
        const asked = await requestOf({ model: 'm', input, ...(hasTools || names.length > 0 ? { tools } : {}) });
        const parsed = await asked.parse(1_000_000);
        assert.ok(E.isRight(parsed));
        for (const { name, provider } of [openAiChat, anthropicMessages]) {
          const sent = provider.write(parsed.right.conversation, target);
          assert.ok(E.isRight(sent));
          const body = JSON.parse(sent.right.body.toString());
          const headers = { authorization: 'Bearer k', 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
          for (const { refuses } of rules[name as keyof typeof rules])
            assert.equal(refuses(body, headers), null, JSON.stringify(body));
        }
      }),
      runs,
    );
  });

  it('pass to a provider that stores nothing, without what only others can read', async () => {
    await fc.assert(
      fc.asyncProperty(answers('anthropic-messages'), async (answer) => {
        const output = outputOf(wholeOf(answer));
        const results = output
          .filter(({ type }) => type === 'function_call')
          .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'done' }));
        const asked = await requestOf({
          model: 'm',
          input: [...output, ...results, { role: 'user', content: 'more' }],
        });
        const native = { model: 'gpt-x', provider: 'openai', reasoning: true, hostedTools: false };
        const body = JSON.parse(
          asked.changed({ target: native, asksUsage: false, continueFrom: null }).body.toString(),
        );
        for (const { refuses } of responsesRules('openai'))
          assert.equal(refuses(body, { authorization: 'Bearer k' }), null, JSON.stringify(body));
        const kept = output.filter(({ type }) => type !== 'reasoning');
        assert.deepEqual(body.input.slice(0, kept.length), kept);
      }),
      runs,
    );
  });

  it('say how they are stored, and nothing else of them is changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.jsonValue(), fc.boolean(), async (text, value, isStored) => {
        const response = openAiResponse([{ type: 'message', content: [{ type: 'output_text', text }] }], {
          metadata: { value: JSON.stringify(value), store: true } as never,
        });
        const storage = { isStored, previousResponseId: isStored ? null : `resp_${text}` };
        const expected = { ...response, store: isStored, previous_response_id: storage.previousResponseId };
        const bytes = Buffer.from(JSON.stringify(response));
        assert.deepEqual(JSON.parse((await rewriteResponse(bytes, storage)).toString()), expected);
        for (const event of eventsOfResponse(response)) {
          const data = event.slice(event.indexOf('data: ') + 'data: '.length).trimEnd();
          const before = JSON.parse(data);
          const after = JSON.parse(rewriteEvent(data, storage));
          const said =
            before.response === undefined
              ? {}
              : { response: { ...before.response, store: isStored, previous_response_id: storage.previousResponseId } };
          assert.deepEqual(after, { ...before, ...said });
        }
      }),
      runs,
    );
  });
});
