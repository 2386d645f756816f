import { ChatMemory, lastQuestion } from '#test/gateway/support/chat-memory.ts';
import type { ChatState } from '#test/gateway/support/chat-state.ts';
import { rulesOfChats, sendChat, strictChat, textOf } from '#test/gateway/support/strict-chat.ts';
import { eventsOf, signatureOf, strictMessages } from '#test/gateway/support/strict-messages.ts';
import {
  type Answer,
  type Body,
  listOf,
  type StrictProvider,
  sendEvents,
  sendJson,
} from '#test/gateway/support/strict-provider.ts';

/** The days whose hours the model asks for: two in parallel, and then one. */
const steps = [['Monday', 'Tuesday'], ['Wednesday']];

/** What an agent says at the end of a loop, if its provider has got the results of all calls. */
export const expectedText = 'Open Monday 9-17, Tuesday 9-17, Wednesday 9-17 ✓';

/** What the model does after these results, which came since the user's last text. */
function nextStep(results: ReadonlyArray<string>): {
  readonly thought: string;
  readonly days: ReadonlyArray<string>;
  readonly text: string;
} {
  const days = steps.find((_, index) => results.length === steps.slice(0, index).flat().length) ?? [];
  const text = days.length > 0 ? '' : `Open ${results.join(', ')} ✓`;
  return { thought: days.length > 0 ? `I need the hours of ${days.join(' and ')}.` : 'I know all days.', days, text };
}

/** A provider of chats in whose loops each later request has the state that it gave. */
export function loopingChat(state: ChatState): StrictProvider {
  const memory = new ChatMemory(state);
  const answer: Answer = (res, body) => {
    const messages = listOf(body.messages);
    const results = messages.slice(lastQuestion(messages)).filter(({ role }) => role === 'tool');
    const { thought, days, text } = nextStep(results.map(textOf));
    const calls = days.map((day, index) => ({
      id: `call_${memory.size}_${index}`,
      type: 'function',
      function: { name: 'opening_hours', arguments: JSON.stringify({ day }) },
    }));
    const message = calls.length > 0 ? { content: null, tool_calls: calls } : { content: text };
    const said = state.give(`${thought} (${memory.size})`, { role: 'assistant', ...message });
    memory.remember(said.message);
    sendChat(res, body, said);
  };
  return strictChat(answer, [...rulesOfChats(state.members), memory.rule], state.refuse);
}

/** A provider of Messages in whose loops each thought comes back with its signature. */
export interface LoopingMessages extends StrictProvider {
  /** Whether each request asked for thoughts, in order. */
  readonly thinking: boolean[];
}

export function loopingMessages(): LoopingMessages {
  let answers = 0;
  const thinking: boolean[] = [];
  const strict = strictMessages((res, body) => {
    const messages = listOf(body.messages);
    const results = messages.slice(lastText(messages)).flatMap(resultsIn);
    const { thought, days, text } = nextStep(results);
    const thinks = body.thinking !== undefined;
    answers += 1;
    thinking.push(thinks);
    const message = {
      id: `msg_${answers}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [
        ...(thinks ? [thoughtBlock(`${thought} (${answers})`)] : []),
        ...days.map((day, index) => ({
          type: 'tool_use',
          id: `toolu_${answers}_${index}`,
          name: 'opening_hours',
          input: { day },
        })),
        ...(text === '' ? [] : [{ type: 'text', text }]),
      ],
      stop_reason: days.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 7 },
    };
    return body.stream === true ? sendEvents(res, eventsOf(message)) : sendJson(res, message);
  });
  return { ...strict, thinking };
}

function thoughtBlock(thought: string): Body {
  return { type: 'thinking', thinking: thought, signature: signatureOf(thought) };
}

/** Where the user's last text is: results of tools are the user's too. */
function lastText(messages: ReadonlyArray<Body>): number {
  return messages.findLastIndex(({ role, content }) => role === 'user' && resultsIn({ content }).length === 0);
}

function resultsIn({ content }: Body): ReadonlyArray<string> {
  return listOf(content).flatMap((block) => (block.type === 'tool_result' ? [textOf(block)] : []));
}
