import { rulesOfChats, strictChat } from '#test/gateway/support/strict-chat.ts';
import { type Body, isObject, isText, listOf } from '#test/gateway/support/strict-provider.ts';
import { type Fault, parsedOrText, type Reason, type Said, type SaidCall, type Tool, tokens } from '../exchange.ts';
import { dataOf, halves, type Manner, type MatrixProvider, type ReadPart } from './matrix-provider.ts';

const errors: Readonly<Record<Fault, Body>> = {
  busy: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' },
  invalid: { message: 'Not this', type: 'invalid_request_error', param: null, code: 'content_policy_violation' },
};

const common = { id: 'chatcmpl-fake', created: 1_767_225_600, model: 'gpt-x' };
const reasons: Readonly<Record<Reason, string>> = { stop: 'stop', 'tool-calls': 'tool_calls', length: 'length' };
const usage = {
  prompt_tokens: tokens.input,
  completion_tokens: tokens.output,
  total_tokens: tokens.input + tokens.output,
  prompt_tokens_details: { cached_tokens: tokens.cached },
};

/** A provider of chat completions, of a model that thinks. */
export const chatProvider: MatrixProvider = {
  protocol: 'openai-chat',
  onlyFrom: null,
  entry: { kind: 'openai-compatible' },
  target: { reasoning: true },
  strict: (answer) => strictChat(answer, rulesOfChats({ takesReasoning: true })),
  manners: [
    mannerOf('OpenAI', {}),
    mannerOf('OpenRouter', { first: [': OPENROUTER PROCESSING\n\n'], reasoning: 'reasoning', isForeign: true }),
    mannerOf('Azure', { first: [chunkOf([], { id: '', model: '', prompt_filter_results: [] })] }),
  ],
  getsThoughts: false,
  read: (body) => {
    const [system, ...messages] = listOf(body.messages);
    const format = isObject(body.response_format) ? body.response_format.json_schema : null;
    return {
      system: textIn(system?.content),
      parts: messages.flatMap(partsOf),
      tools: listOf(body.tools).map(toolOf),
      schema: isObject(format) ? (format.schema as object) : null,
    };
  },
  errorNames: { busy: 'rate_limit_exceeded', invalid: 'content_policy_violation' },
  refusal: (fault) => ({ error: errors[fault] }),
  errorEvent: (fault) => `data: ${JSON.stringify({ error: errors[fault] })}\n\n`,
};

/** What differs between providers of chats. */
interface Differences {
  /** Events before the first one. */
  readonly first?: ReadonlyArray<string>;
  /** The member of the reasoning's text. */
  readonly reasoning?: string;
  readonly isForeign?: boolean;
}

function mannerOf(
  name: string,
  { first = [], reasoning = 'reasoning_content', isForeign = false }: Differences,
): Manner {
  const delta = (said: Body, finish: string | null = null) =>
    chunkOf([{ index: 0, delta: said, logprobs: null, finish_reason: finish }]);
  return {
    name,
    isForeign,
    whole: (said) => ({
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message: messageOf(said, reasoning), logprobs: null, finish_reason: reasons[said.reason] }],
      usage,
    }),
    stream: ({ thought, text, calls, reason }) => ({
      start: [...first, delta({ role: 'assistant', content: calls.length > 0 ? null : '', refusal: null })],
      content: [
        ...halves(thought).map((piece) => delta({ [reasoning]: piece })),
        ...halves(text).map((content) => delta({ content })),
        ...calls.flatMap(callDeltas).map((call) => delta({ tool_calls: [call] })),
      ],
      end: [delta({}, reasons[reason]), chunkOf([], { usage }), 'data: [DONE]\n\n'],
    }),
  };
}

function chunkOf(choices: ReadonlyArray<Body>, more: Body = {}): string {
  return `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
}

function messageOf({ thought, text, calls }: Said, reasoning: string): Body {
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: null,
    ...(thought === '' ? {} : { [reasoning]: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
  };
}

function callOf({ id, name, given }: SaidCall): Body {
  return { id, type: 'function', function: { name, arguments: given } };
}

function callDeltas(call: SaidCall, index: number): ReadonlyArray<Body> {
  return [
    { index, ...callOf({ ...call, given: '' }) },
    ...halves(call.given).map((piece) => ({ index, function: { arguments: piece } })),
  ];
}

function partsOf({ role, content, tool_calls: calls, tool_call_id: id }: Body): ReadonlyArray<ReadPart> {
  if (role === 'tool') return [{ kind: 'result', id: String(id), text: textIn(content) }];
  if (role === 'user') return isText(content) ? [{ kind: 'text', text: content }] : listOf(content).map(askedOf);
  const said = textIn(content);
  return [
    ...(said === '' ? [] : [{ kind: 'said', text: said } as const]),
    ...listOf(calls).map(({ id: callId, function: called }): ReadPart => {
      const { name, arguments: given } = called as Body;
      return { kind: 'call', id: String(callId), name: String(name), given: parsedOrText(String(given)) };
    }),
  ];
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
