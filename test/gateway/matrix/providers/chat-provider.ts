import { allState, rulesOfChats, strictChat } from '#test/gateway/support/strict-chat.ts';
import { type Body, isObject, isText, listOf } from '#test/gateway/support/strict-provider.ts';
import { type Fault, parsedOrText, type Tool } from '../exchange.ts';
import { chatManners } from './chat-manners.ts';
import { dataOf, type MatrixProvider, type ReadPart } from './matrix-provider.ts';

const errors: Readonly<Record<Fault, Body>> = {
  busy: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' },
  invalid: { message: 'Not this', type: 'invalid_request_error', param: null, code: 'content_policy_violation' },
};

/** A provider of chat completions, of a model that thinks. */
export const chatProvider: MatrixProvider = {
  protocol: 'openai-chat',
  entry: { kind: 'openai-compatible' },
  target: { reasoning: true },
  strict: (answer) => strictChat(answer, rulesOfChats(allState)),
  manners: chatManners,
  getsThoughts: true,
  read: (body) => {
    const [system, ...messages] = listOf(body.messages);
    const format = isObject(body.response_format) ? body.response_format.json_schema : null;
    return {
      system: textIn(system?.content),
      parts: messages.flatMap(partsOf),
      tools: listOf(body.tools).map(toolOf),
      schema: isObject(format) ? (format.schema as object) : null,
      thinks: body.reasoning_effort === 'low',
    };
  },
  errorNames: { busy: 'rate_limit_exceeded', invalid: 'content_policy_violation' },
  refusal: (fault) => ({ error: errors[fault] }),
  errorEvent: (fault) => `data: ${JSON.stringify({ error: errors[fault] })}\n\n`,
};

function partsOf(message: Body): ReadonlyArray<ReadPart> {
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  if (role === 'tool') return [{ kind: 'result', id: String(id), text: textIn(content) }];
  if (role === 'user') return isText(content) ? [{ kind: 'text', text: content }] : listOf(content).map(askedOf);
  const said = textIn(content);
  const thought = message.reasoning_content ?? message.reasoning;
  return [
    ...(isText(thought) ? [{ kind: 'thought', text: thought } as const] : []),
    ...(said === '' ? [] : [{ kind: 'said', text: said } as const]),
    ...listOf(calls).map(callIn),
  ];
}

function callIn({ id, function: called, extra_content: extra }: Body): ReadPart {
  const { name, arguments: given } = called as Body;
  const call = { kind: 'call', id: String(id), name: String(name), given: parsedOrText(String(given)) } as const;
  return extra === undefined ? call : { ...call, state: String(((extra as Body).google as Body).thought_signature) };
}

function askedOf({ type, text, image_url: image, file }: Body): ReadPart {
  if (type === 'image_url') return { kind: 'image', ...dataOf((image as Body).url) };
  if (type !== 'file') return { kind: 'text', text: String(text) };
  const { filename, file_data: data } = file as Body;
  return { kind: 'document', ...dataOf(data), name: String(filename) };
}

function textIn(content: unknown): string {
  return isText(content)
    ? content
    : listOf(content)
        .map(({ text }) => String(text))
        .join('');
}

function toolOf({ function: described }: Body): Tool {
  const { name, description, parameters } = described as Body;
  return { name: String(name), description: String(description), schema: parameters as Tool['schema'] };
}
