import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../../src/shared/json/json.ts';
import type { ProtocolName } from '../../gateway/protocols/arbitrary-answers.ts';
import { answerIn, type ReadAnswer } from '../../gateway/protocols/client-readers.ts';

/** What the official client of a protocol makes of a stream. */
export const officialClients: Readonly<Record<ProtocolName, (stream: string) => Promise<ReadAnswer>>> = {
  'openai-chat': async (stream) => {
    const client = new OpenAI({ apiKey: 'x', fetch: fetchOf(stream) });
    const completion = await client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion();
    const { content, tool_calls: all = [] } = completion.choices[0]?.message ?? assert.fail();
    const calls = all.flatMap((call) => (call.type === 'function' ? [{ id: call.id, ...call.function }] : []));
    return {
      text: content ?? '',
      // It keeps the last piece alone of a member that it does not know.
      reasoning: null,
      calls: calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given })),
    };
  },
  'openai-responses': async (stream) => {
    const client = new OpenAI({ apiKey: 'x', fetch: fetchOf(stream) });
    const { output } = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
    return answerIn(output as unknown as ReadonlyArray<JsonObject>);
  },
  'anthropic-messages': async (stream) => {
    const client = new Anthropic({ apiKey: 'x', fetch: fetchOf(stream) });
    const { content } = await client.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage();
    const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      calls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
    };
  },
};

function fetchOf(stream: string): () => Promise<Response> {
  return () => Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
}
