import { chunk, completion, done, role } from './fake-provider.ts';
import { strictChat } from './strict-chat.ts';
import { eventsOf, strictMessages } from './strict-messages.ts';
import { type Answer, type Body, listOf, type StrictProvider, sendEvents, sendJson } from './strict-provider.ts';

/** A call that the model of a provider makes. The arguments may be no JSON, but not to Anthropic. */
export interface AskedCall {
  readonly name: string;
  readonly given: string;
}

/** A strict provider of chats or Messages, whose model calls tools. */
export interface AskingProvider extends StrictProvider {
  /** The calls of its next answer. Without any, it says that the desk is open. */
  next: () => ReadonlyArray<AskedCall>;
  /** The latest body. */
  seen: Body;
}

export function askingChat(): AskingProvider {
  return asking(strictChat, (calls, body) =>
    body.stream === true
      ? [
          role,
          ...calls.map(({ name, given }, index) =>
            chunk({
              tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: given } }],
            }),
          ),
          ...(calls.length === 0 ? [chunk({ content: said }), chunk({}, 'stop')] : [chunk({}, 'tool_calls')]),
          done,
        ]
      : completionWith(calls),
  );
}

export function askingClaude(): AskingProvider {
  return asking(strictMessages, (calls, body) => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content:
        calls.length === 0
          ? [{ type: 'text', text: said }]
          : calls.map(({ name, given }, index) => ({
              type: 'tool_use',
              id: `toolu_${index}`,
              name,
              input: JSON.parse(given),
            })),
      stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 7 },
    };
    return body.stream === true ? eventsOf(message) : message;
  });
}

const said = 'It is open.';

type AnswerOf = (calls: ReadonlyArray<AskedCall>, body: Body) => Body | ReadonlyArray<string>;

function asking(strict: (answer: Answer) => StrictProvider, answerOf: AnswerOf): AskingProvider {
  const provider: AskingProvider = {
    next: () => [],
    seen: {},
    ...strict((res, body) => {
      provider.seen = body;
      const answer = answerOf(provider.next(), body);
      return Array.isArray(answer) ? sendEvents(res, answer) : sendJson(res, answer);
    }),
  };
  return provider;
}

function completionWith(calls: ReadonlyArray<AskedCall>): Body {
  const whole = completion(said);
  if (calls.length === 0) return whole;
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ name, given }, index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: given },
    })),
  };
  return { ...whole, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
}

/** The functions that a provider got, by their names. */
export function declaredTo({ seen }: AskingProvider): ReadonlyMap<string, Body> {
  const tools = listOf(seen.tools).map((tool) => (tool.type === 'function' ? (tool.function as Body) : tool));
  return new Map(tools.map((tool) => [String(tool.name), tool]));
}

/** The calls in the history that a provider got, each with its arguments as a value, and the texts of the results. */
export function historyOf({ seen }: AskingProvider) {
  const calls: unknown[] = [];
  const results: string[] = [];
  for (const { role: of, content, tool_calls: called } of listOf(seen.messages)) {
    for (const call of listOf(called)) {
      const { name, arguments: given } = call.function as Body;
      calls.push([name, JSON.parse(String(given))]);
    }
    if (of === 'tool') results.push(textOf(content));
    for (const block of listOf(content)) {
      if (block.type === 'tool_use') calls.push([block.name, block.input]);
      if (block.type === 'tool_result') results.push(textOf(block.content));
    }
  }
  return { calls, results };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(({ text }) => String(text))
    .join('\n');
}
