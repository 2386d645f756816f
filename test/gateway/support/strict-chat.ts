import type { ServerResponse } from 'node:http';
import {
  type Answer,
  type Body,
  bearerRule,
  faultIn,
  isBetween,
  isObject,
  isText,
  listOf,
  memberRules,
  nextTurn,
  type Refuse,
  type Rule,
  refuseAsOpenAi,
  rule,
  type StrictProvider,
  sendAsAsked,
  strictProvider,
  textIn,
  unknownIn,
} from './strict-provider.ts';

const api = 'https://platform.openai.com/docs/api-reference/chat/create';
const calling = 'https://platform.openai.com/docs/guides/function-calling';
const structured = 'https://platform.openai.com/docs/guides/structured-outputs';

const members = [
  ...['model', 'messages', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'stop', 'stream', 'n'],
  ...['stream_options', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'reasoning_effort'],
  ...['seed', 'user', 'metadata', 'store', 'logprobs', 'top_logprobs', 'frequency_penalty', 'presence_penalty'],
  ...['service_tier', 'logit_bias', 'modalities', 'audio', 'prediction', 'verbosity'],
];
const ofRole: Readonly<Record<string, ReadonlyArray<string>>> = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'refusal', 'tool_calls', 'audio'],
  tool: ['role', 'content', 'tool_call_id'],
};

/** The members that a provider takes beside OpenAI's, because it gives them. */
export interface StateMembers {
  readonly message: ReadonlyArray<string>;
  readonly call: ReadonlyArray<string>;
}

/** What some provider or other gives. */
export const allState: StateMembers = {
  message: ['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'],
  call: ['extra_content'],
};

/** OpenAI gives none. */
const noState: StateMembers = { message: [], call: [] };

function unknownInMessage(message: Body, state: StateMembers): string | null {
  const role = String(message.role);
  const known = ofRole[role] ?? [];
  const unknown = unknownIn(message, role === 'assistant' ? [...known, ...state.message] : known);
  const ofCall = ['id', 'type', 'index', 'function', 'custom', ...state.call];
  return unknown ?? faultIn(listOf(message.tool_calls), (call) => unknownIn(call, ofCall));
}

const messagesOf = (body: Body) => listOf(body.messages);

function faultOfContent({ role, content, tool_calls: calls }: Body): string | null {
  if (isText(content)) return null;
  if (content === null || content === undefined) {
    return role === 'assistant' && listOf(calls).length > 0 ? null : 'content: is required';
  }
  const known = role === 'user' ? ['text', 'image_url', 'input_audio', 'file'] : ['text', 'refusal'];
  const unfit = listOf(content).find(({ type }) => !known.includes(String(type)));
  return unfit === undefined ? null : `content: ${String(unfit.type)} is not supported for ${String(role)}`;
}

const isArgumentsSchema = (schema: unknown): boolean =>
  schema === undefined || (isObject(schema) && schema.type === 'object' && isObject(schema.properties));

function faultOfCalls(messages: ReadonlyArray<Body>): string | null {
  for (const [index, message] of messages.entries()) {
    const wanted = new Set(listOf(message.tool_calls).map(({ id }) => id));
    for (let next = index + 1; wanted.size > 0; next += 1) {
      const { role, tool_call_id: id } = messages[next] ?? {};
      if (role !== 'tool' || !wanted.delete(id))
        return 'tool_calls must be followed by tool messages for each tool_call_id';
    }
    if (message.role === 'tool' && !isAnswering(messages, index)) return 'a tool message must follow its tool_calls';
  }
  return null;
}

function isAnswering(messages: ReadonlyArray<Body>, index: number): boolean {
  const before = messages.slice(0, index).findLast(({ role }) => role !== 'tool');
  return listOf(before?.tool_calls).some(({ id }) => id === messages[index]?.tool_call_id);
}

/**
 * What OpenAI's reference refuses.
 * @param state what a provider takes in addition
 */
export const rulesOfChats = (state: StateMembers): ReadonlyArray<Rule> => [
  bearerRule,
  ...memberRules(api, members),
  rule(api, (body) => (messagesOf(body).length > 0 ? null : 'messages: must not be empty')),
  rule(api, (body) => (messagesOf(body).every(({ role }) => String(role) in ofRole) ? null : 'role: is not known')),
  rule(api, (body) => faultIn(messagesOf(body), (message) => unknownInMessage(message, state))),
  rule(api, (body) => faultIn(messagesOf(body), faultOfContent)),
  rule(api, (body) =>
    messagesOf(body)
      .flatMap(({ content }) => listOf(content))
      .every(
        ({ type, image_url: image }) =>
          type !== 'image_url' || (isObject(image) && /^(https?:|data:image)/.test(String(image.url))),
      )
      ? null
      : 'image_url.url: is not valid',
  ),
  rule(api, (body) =>
    messagesOf(body)
      .flatMap(({ content }) => listOf(content))
      .every(
        ({ type, file }) => type !== 'file' || (isObject(file) && (isText(file.file_data) || isText(file.file_id))),
      )
      ? null
      : 'file: needs file_data or file_id',
  ),
  rule(api, ({ temperature }) => (isBetween(temperature ?? undefined, 0, 2) ? null : 'temperature: range 0..2')),
  rule(api, ({ top_p: value }) => (isBetween(value ?? undefined, 0, 1) ? null : 'top_p: range 0..1')),
  rule(api, ({ n }) => (isBetween(n ?? undefined, 1, 128) ? null : 'n: range 1..128')),
  rule(api, ({ max_tokens: limit }) => (isBetween(limit ?? undefined, 1, 1_000_000) ? null : 'max_tokens: at least 1')),
  rule(api, (body) => ('max_tokens' in body && 'max_completion_tokens' in body ? 'max_tokens: set one of them' : null)),
  rule(api, ({ stop }) => (Array.isArray(stop) && stop.length > 4 ? 'stop: at most 4' : null)),
  rule(api, ({ stream, stream_options: options }) =>
    options !== undefined && options !== null && stream !== true ? 'stream_options: only with stream' : null,
  ),
  rule(api, ({ stream }) =>
    stream === undefined || stream === null || typeof stream === 'boolean' ? null : 'stream: a boolean',
  ),
  rule(api, ({ reasoning_effort: effort }) =>
    effort === undefined || ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'].includes(String(effort))
      ? null
      : 'reasoning_effort: is not known',
  ),
  rule(calling, ({ tools }) => (Array.isArray(tools) && tools.length === 0 ? 'tools: must not be empty' : null)),
  rule(calling, ({ tools }) =>
    listOf(tools).every(({ type, function: called }) => type !== 'function' || isObject(called))
      ? null
      : 'tools.function: is required',
  ),
  rule(calling, ({ tools }) =>
    listOf(tools).every(
      ({ function: called }) => !isObject(called) || /^[a-zA-Z0-9_-]{1,64}$/.test(String(called.name)),
    )
      ? null
      : 'tools.function.name: must match ^[a-zA-Z0-9_-]{1,64}$',
  ),
  rule(calling, (body) =>
    messagesOf(body)
      .flatMap(({ tool_calls: calls }) => listOf(calls))
      .every(({ function: called }) => !isObject(called) || /^[a-zA-Z0-9_-]{1,64}$/.test(String(called.name)))
      ? null
      : 'tool_calls.function.name: must match ^[a-zA-Z0-9_-]{1,64}$',
  ),
  rule(calling, ({ tools }) =>
    listOf(tools).every(({ function: called }) => !isObject(called) || isArgumentsSchema(called.parameters))
      ? null
      : 'tools.function.parameters: object schema missing properties',
  ),
  rule(calling, ({ tools, tool_choice: choice }) =>
    choice !== undefined && choice !== null && listOf(tools).length === 0 ? 'tool_choice: only with tools' : null,
  ),
  rule(calling, ({ tool_choice: choice }) =>
    choice === undefined || choice === null || isObject(choice) || ['auto', 'none', 'required'].includes(String(choice))
      ? null
      : 'tool_choice: is not known',
  ),
  rule(calling, ({ tools, parallel_tool_calls: parallel }) =>
    parallel !== undefined && listOf(tools).length === 0 ? 'parallel_tool_calls: only with tools' : null,
  ),
  rule(calling, (body) => faultOfCalls(messagesOf(body))),
  rule(calling, (body) =>
    messagesOf(body)
      .flatMap(({ tool_calls: calls }) => listOf(calls))
      .every(
        ({ id, function: called }) => isText(id) && id.length <= 40 && isObject(called) && isText(called.arguments),
      )
      ? null
      : 'tool_calls: need an id of at most 40 characters, and arguments as a text',
  ),
  rule(structured, ({ response_format: format }) =>
    format === undefined || (isObject(format) && ['text', 'json_object', 'json_schema'].includes(String(format.type)))
      ? null
      : 'response_format.type: is not known',
  ),
  rule(structured, ({ response_format: format }) =>
    isObject(format) &&
    format.type === 'json_schema' &&
    !(isObject(format.json_schema) && isText(format.json_schema.name))
      ? 'response_format.json_schema.name: is required'
      : null,
  ),
];

export const chatRules = rulesOfChats(noState);

/** A strict provider of chats. @param answer default: it plays one conversation */
export function strictChat(
  answer: Answer = playConversation,
  rules = chatRules,
  refuse: Refuse = refuseAsOpenAi,
): StrictProvider {
  return strictProvider(rules, refuse, answer);
}

const playConversation: Answer = (res, body) => sendChat(res, body, answerTo(body));

/** What a provider says in one turn. */
export interface SaidChat {
  /** The message of a whole answer. */
  readonly message: Body;
  /** What comes in a stream before its text and its calls; missing for nothing. */
  readonly deltas?: ReadonlyArray<Body>;
  /** What comes after them. */
  readonly late?: ReadonlyArray<Body>;
}

/** Answers a request, whole or streamed as it asks. */
export function sendChat(res: ServerResponse, body: Body, said: SaidChat): void {
  const { message } = said;
  const reason = listOf(message.tool_calls).length > 0 ? 'tool_calls' : 'stop';
  const common = { id: 'chatcmpl-fake', created: 1_767_225_600, model: body.model };
  const usage = {
    prompt_tokens: 15,
    completion_tokens: 7,
    total_tokens: 22,
    prompt_tokens_details: { cached_tokens: 5 },
  };
  const wantsUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const choices = [{ index: 0, message, logprobs: null, finish_reason: reason }];
  sendAsAsked(res, body, { ...common, object: 'chat.completion', choices, usage }, () =>
    chunksOf(common, said, reason, wantsUsage ? usage : null),
  );
}

function answerTo(body: Body): SaidChat {
  const messages = messagesOf(body);
  const results = messages.filter(({ role }) => role === 'tool').map(textOf);
  const turn = nextTurn(results, listOf(body.tools).length > 0, textOf(messages.at(-1) ?? {}));
  if (turn.kind === 'text') return { message: { role: 'assistant', content: turn.text, refusal: null } };
  const given = JSON.stringify({ day: turn.day });
  const call = {
    id: `call_${results.length}`,
    type: 'function',
    function: { name: 'opening_hours', arguments: given },
  };
  return { message: { role: 'assistant', content: null, refusal: null, tool_calls: [call] } };
}

/** The text of a message. */
export function textOf({ content }: Body): string {
  return textIn(content);
}

/** The chunks of a stream, with OpenAI's padding. */
function chunksOf(
  common: Body,
  { message, deltas = [], late = [] }: SaidChat,
  reason: string,
  usage: Body | null,
): ReadonlyArray<string> {
  const chunk = (choices: ReadonlyArray<Body>, more: Body = {}) =>
    `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more, obfuscation: 'x8Kf2' })}\n\n`;
  const choice = (delta: Body, finish: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }], usage === null ? {} : { usage: null });
  const calls = listOf(message.tool_calls);
  const said =
    calls.length === 0
      ? Array.from(String(message.content), (letter) => choice({ content: letter }))
      : calls.flatMap(callDeltas).map((delta) => choice({ tool_calls: [delta] }));
  return [
    choice({ role: 'assistant', content: calls.length === 0 ? '' : null, refusal: null }),
    ...deltas.map((delta) => choice(delta)),
    ...said,
    ...late.map((delta) => choice(delta)),
    choice({}, reason),
    ...(usage === null ? [] : [chunk([], { usage })]),
    'data: [DONE]\n\n',
  ];
}

function callDeltas({ function: called, ...call }: Body, index: number): ReadonlyArray<Body> {
  const { name, arguments: given } = called as { name: string; arguments: string };
  return [
    { index, ...call, function: { name, arguments: '' } },
    ...Array.from(given, (letter) => ({ index, function: { arguments: letter } })),
  ];
}
