import type { SeenRequest } from './fake-provider.ts';
import {
  type Answer,
  type Body,
  faultIn,
  halvesOf,
  isBetween,
  isObject,
  isText,
  listOf,
  memberRules,
  nextTurn,
  type Refuse,
  type Rule,
  rule,
  type StrictProvider,
  sendAsAsked,
  sendJson,
  strictProvider,
  textIn,
  unknownIn,
} from './strict-provider.ts';

const api = 'https://docs.anthropic.com/en/api/messages';
const versions = 'https://docs.anthropic.com/en/api/versioning';
const tools = 'https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use';
const thinking = 'https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking';
const caching = 'https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching';
const vision = 'https://docs.anthropic.com/en/docs/build-with-claude/vision';

const members = [
  ...['model', 'messages', 'max_tokens', 'system', 'stop_sequences', 'stream', 'temperature', 'top_p', 'top_k'],
  ...['tools', 'tool_choice', 'thinking', 'metadata', 'service_tier', 'output_config', 'container', 'mcp_servers'],
  ...['context_management', 'cache_control'],
];

const blocksOf = (message: Body): ReadonlyArray<Body> =>
  isText(message.content) ? [{ type: 'text', text: message.content }] : listOf(message.content);

const allBlocks = (body: Body): ReadonlyArray<Body> => listOf(body.messages).flatMap(blocksOf);

const callId = /^[a-zA-Z0-9_-]+$/;

/** The signature of a thought. Anthropic's is opaque too, and belongs to one thought alone. */
export function signatureOf(thought: string): string {
  return `signed-${Buffer.from(thought).toString('base64')}`;
}

function faultOfBlock(block: Body): string | null {
  switch (block.type) {
    case 'text':
      return isText(block.text) && block.text.trim() !== '' ? null : 'text content blocks must be non-empty';
    case 'tool_use':
      if (!isObject(block.input)) return 'tool_use.input: must be an object';
      return isText(block.id) && callId.test(block.id) ? null : 'tool_use.id: must match ^[a-zA-Z0-9_-]+$';
    case 'tool_result':
      return isText(block.tool_use_id) && callId.test(block.tool_use_id)
        ? null
        : 'tool_result.tool_use_id: is required';
    case 'thinking':
      return block.signature === signatureOf(String(block.thinking)) ? null : 'Invalid `signature` in `thinking` block';
    case 'redacted_thinking':
      return isText(block.data) ? null : 'redacted_thinking.data: is required';
    case 'image':
    case 'document':
      return faultOfSource(block);
    default:
      return `the type ${String(block.type)} is not known`;
  }
}

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function faultOfSource({ type, source }: Body): string | null {
  if (!isObject(source)) return 'source: is required';
  if (source.type === 'url')
    return isText(source.url) && source.url.startsWith('https://') ? null : 'url: must be https';
  if (source.type === 'text')
    return type === 'document' && source.media_type === 'text/plain' ? null : 'text/plain only';
  if (source.type !== 'base64') return 'source.type: is not known';
  const known = type === 'image' ? imageTypes : ['application/pdf'];
  if (!known.includes(String(source.media_type))) return `media_type: must be one of ${known.join(', ')}`;
  return isText(source.data) && /^[A-Za-z0-9+/]+={0,2}$/.test(source.data) ? null : 'data: must be Base64';
}

/** Calls must be answered by the next message, and results must answer the message before. */
function faultOfPairs(messages: ReadonlyArray<Body>): string | null {
  const ids = (message: Body | undefined, type: string, member: string) =>
    message === undefined ? [] : blocksOf(message).flatMap((block) => (block.type === type ? [block[member]] : []));
  for (const [index, message] of messages.entries()) {
    const calls = ids(message, 'tool_use', 'id');
    const results = ids(messages[index + 1], 'tool_result', 'tool_use_id');
    if (calls.some((id) => !results.includes(id)))
      return 'tool_use ids were found without tool_result blocks after them';
    const own = ids(message, 'tool_result', 'tool_use_id');
    const before = ids(messages[index - 1], 'tool_use', 'id');
    if (own.some((id) => !before.includes(id))) return 'unexpected tool_use_id in a tool_result block';
  }
  return null;
}

const idsIn = (body: Body, type: string, member: string): ReadonlyArray<unknown> =>
  allBlocks(body).flatMap((block) => (block.type === type ? [block[member]] : []));

/** What asks for the cache, in the order in which the prompt is read: tools, the system, messages, and the whole. */
function cacheControlsIn(body: Body): ReadonlyArray<unknown> {
  const blocks = [...listOf(body.tools), ...listOf(body.system), ...allBlocks(body), body];
  return blocks.flatMap((block) => (block.cache_control === undefined ? [] : [block.cache_control]));
}

function isCacheControl(value: unknown): boolean {
  if (!isObject(value) || unknownIn(value, ['type', 'ttl']) !== null) return false;
  return value.type === 'ephemeral' && [undefined, '5m', '1h'].includes(value.ttl as undefined);
}

/** Whether an hour is asked for after five minutes. */
function hasLateHour(body: Body): boolean {
  const isHour = cacheControlsIn(body).map((each) => isObject(each) && each.ttl === '1h');
  return isHour.lastIndexOf(true) > isHour.indexOf(false) && isHour.includes(false);
}

const isUnique = (values: ReadonlyArray<unknown>): boolean => new Set(values).size === values.length;

/** Whether a message of the assistant, which Anthropic would continue, ends with a space. */
function endsWithSpace(message: Body | undefined): boolean {
  const text = message?.role === 'assistant' ? blocksOf(message).at(-1)?.text : undefined;
  return isText(text) && text !== text.trimEnd();
}

/** Whether a text or an image is before a result of a tool. */
function hasLateResult(message: Body): boolean {
  const blocks = blocksOf(message);
  const other = blocks.findIndex(({ type }) => type !== 'tool_result');
  return other !== -1 && blocks.slice(other).some(({ type }) => type === 'tool_result');
}

/** Why a model that thinks refuses results of calls that it gets without its thoughts; null if it does not. */
function faultOfThoughts({ messages, thinking: asked }: Body): string | null {
  if (!isObject(asked) || asked.type === 'disabled') return null;
  const all = listOf(messages);
  const [called, answered] = all.slice(-2);
  if (called === undefined || answered === undefined || called.role !== 'assistant') return null;
  const [first] = blocksOf(called);
  const isResult = blocksOf(answered).some(({ type }) => type === 'tool_result');
  if (!isResult || first?.type === 'thinking' || first?.type === 'redacted_thinking') return null;
  return (
    `messages.${all.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found ` +
    `\`${String(first?.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking ` +
    'block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking ' +
    'blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at ' +
    'https://docs.claude.com/en/docs/build-with-claude/extended-thinking'
  );
}

/** Why a message of the assistant that ends with a thought is refused; null without one. */
function faultOfLastBlocks({ messages }: Body): string | null {
  const at = listOf(messages).findIndex(
    (message) => message.role === 'assistant' && /thinking/.test(String(blocksOf(message).at(-1)?.type)),
  );
  return at === -1 ? null : `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`;
}

/** What Anthropic's reference refuses. */
export const messagesRules: ReadonlyArray<Rule> = [
  rule('https://docs.anthropic.com/en/api/overview', (_, headers) =>
    headers['x-api-key'] === undefined ? 'x-api-key header is required' : null,
  ),
  rule(versions, (_, headers) =>
    ['2023-06-01', '2026-10-21'].includes(String(headers['anthropic-version']))
      ? null
      : 'anthropic-version: header is required',
  ),
  rule(versions, (body, headers) =>
    headers['anthropic-version'] === '2026-10-21' && ['temperature', 'top_p', 'top_k'].some((name) => name in body)
      ? 'temperature, top_p and top_k are not taken by this version'
      : null,
  ),
  ...memberRules(api, members),
  rule(api, ({ max_tokens: limit }) =>
    Number.isInteger(limit) && Number(limit) > 0 ? null : 'max_tokens: is required',
  ),
  rule(api, ({ messages }) =>
    Array.isArray(messages) && messages.length > 0 ? null : 'messages: at least one message is required',
  ),
  rule(api, (body) =>
    listOf(body.messages).every(({ role }) => role === 'user' || role === 'assistant')
      ? null
      : 'role: user or assistant',
  ),
  rule(api, (body) =>
    listOf(body.messages).every((message) => unknownIn(message, ['role', 'content']) === null)
      ? null
      : 'extra inputs are not permitted in a message',
  ),
  rule(api, (body) =>
    listOf(body.messages).every((message) => blocksOf(message).length > 0) ? null : 'all messages must have content',
  ),
  rule(api, (body) => faultIn(allBlocks(body), faultOfBlock)),
  rule(api, (body) =>
    listOf(body.messages)[0]?.role === 'assistant' ? 'messages: first message must use the "user" role' : null,
  ),
  rule(api, (body) =>
    endsWithSpace(listOf(body.messages).at(-1)) ? 'final assistant content: trailing whitespace' : null,
  ),
  rule(api, ({ system }) =>
    system === undefined ||
    isText(system) ||
    listOf(system).every(({ type, text }) => type === 'text' && String(text).trim() !== '')
      ? null
      : 'system: must be a text or text blocks that are not empty',
  ),
  rule(api, ({ temperature }) => (isBetween(temperature, 0, 1) ? null : 'temperature: range 0..1')),
  rule(api, ({ top_p: value }) => (isBetween(value, 0, 1) ? null : 'top_p: range 0..1')),
  rule(api, ({ stop_sequences: value }) =>
    value === undefined || (Array.isArray(value) && value.every((each) => isText(each) && each.trim() !== ''))
      ? null
      : 'stop_sequences: each must contain non-whitespace',
  ),
  rule(api, ({ stream }) => (stream === undefined || typeof stream === 'boolean' ? null : 'stream: must be a boolean')),
  rule(tools, (body) =>
    listOf(body.tools).every(({ name }) => isText(name) && /^[a-zA-Z0-9_-]{1,128}$/.test(name))
      ? null
      : 'tools.name: must match ^[a-zA-Z0-9_-]{1,128}$',
  ),
  rule(tools, (body) =>
    listOf(body.tools).every(
      ({ type, input_schema: schema }) => isText(type) || (isObject(schema) && schema.type === 'object'),
    )
      ? null
      : 'tools.input_schema.type: must be object',
  ),
  rule(tools, (body) => {
    const names = listOf(body.tools).map(({ name }) => name);
    return new Set(names).size === names.length ? null : 'tools: names must be unique';
  }),
  rule(tools, ({ tool_choice: choice }) =>
    choice === undefined || (isObject(choice) && ['auto', 'any', 'tool', 'none'].includes(String(choice.type)))
      ? null
      : 'tool_choice.type: auto, any, tool or none',
  ),
  rule(tools, (body) =>
    allBlocks(body).some(({ type }) => type === 'tool_use') && listOf(body.tools).length === 0
      ? 'requests which include tool_use or tool_result blocks must define tools'
      : null,
  ),
  rule(tools, (body) => faultOfPairs(listOf(body.messages))),
  rule(tools, (body) => (isUnique(idsIn(body, 'tool_use', 'id')) ? null : '`tool_use` ids must be unique')),
  rule(tools, (body) =>
    isUnique(idsIn(body, 'tool_result', 'tool_use_id')) ? null : 'each tool_use must have a single result',
  ),
  rule(tools, (body) =>
    listOf(body.messages).some(hasLateResult) ? 'tool_result blocks must come first in the content' : null,
  ),
  rule(thinking, faultOfLastBlocks),
  rule(thinking, faultOfThoughts),
  rule(thinking, ({ thinking: asked, max_tokens: limit }) =>
    isObject(asked) &&
    asked.type === 'enabled' &&
    !(Number(asked.budget_tokens) >= 1_024 && Number(asked.budget_tokens) < Number(limit))
      ? 'thinking.budget_tokens: at least 1024 and below max_tokens'
      : null,
  ),
  rule(thinking, ({ thinking: asked, temperature, top_k: topK }) =>
    isObject(asked) && asked.type !== 'disabled' && ((temperature ?? 1) !== 1 || topK !== undefined)
      ? 'temperature may only be set to 1 when thinking is enabled'
      : null,
  ),
  rule(thinking, ({ thinking: asked, top_p: topP }) =>
    isObject(asked) && asked.type !== 'disabled' && !isBetween(topP, 0.95, 1)
      ? '`top_p` must be at least 0.95 when thinking is enabled'
      : null,
  ),
  rule(thinking, ({ thinking: asked, tool_choice: choice }) =>
    isObject(asked) &&
    asked.type !== 'disabled' &&
    isObject(choice) &&
    (choice.type === 'any' || choice.type === 'tool')
      ? 'thinking may not be enabled when tool_choice forces tool use'
      : null,
  ),
  rule(caching, (body) =>
    cacheControlsIn(body).every(isCacheControl)
      ? null
      : 'cache_control: must be {"type": "ephemeral"}, with a known ttl',
  ),
  rule(caching, (body) =>
    cacheControlsIn(body).length > 4 ? 'a maximum of 4 blocks with cache_control may be provided' : null,
  ),
  rule(caching, (body) => (hasLateHour(body) ? 'cache_control: a ttl of 1h must not come after one of 5m' : null)),
  rule(caching, (body) =>
    allBlocks(body).some(({ type, cache_control: asked }) => asked !== undefined && /thinking/.test(String(type)))
      ? 'thinking.cache_control: Extra inputs are not permitted'
      : null,
  ),
  rule(vision, (body) =>
    allBlocks(body).filter(({ type }) => type === 'image').length > 100 ? 'too many images' : null,
  ),
];

/** A strict provider of Messages. @param answer default: it plays one conversation, and counts tokens */
export function strictMessages(answer: Answer = playConversation): StrictProvider {
  return strictProvider(messagesRules, refuseAsAnthropic, answer, judgedMembers);
}

/** A request that only counts tokens has no limit of an answer. */
function judgedMembers(body: Body, { path }: SeenRequest): Body {
  return path.includes('/count_tokens') ? { max_tokens: 1, ...body } : body;
}

const refuseAsAnthropic: Refuse = (res, fault) => {
  const error = { type: 'invalid_request_error', message: fault };
  sendJson(res, { type: 'error', error, request_id: 'req_fake' }, fault.startsWith('x-api-key') ? 401 : 400);
};

const playConversation: Answer = (res, body, { path }) => {
  if (path.includes('/count_tokens')) return sendJson(res, { input_tokens: 42 });
  const message = answerTo(body);
  return sendAsAsked(res, body, message, () => eventsOf(message));
};

function answerTo(body: Body): Body {
  const results = allBlocks(body).flatMap((block) => (block.type === 'tool_result' ? [textIn(block.content)] : []));
  const last = listOf(body.messages).at(-1) ?? {};
  const turn = nextTurn(results, listOf(body.tools).length > 0, textIn(last.content));
  const thinks = isObject(body.thinking) && body.thinking.type !== 'disabled';
  return {
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [
      ...(thinks ? [{ type: 'thinking', thinking: 'Let me see.', signature: signatureOf('Let me see.') }] : []),
      turn.kind === 'text'
        ? { type: 'text', text: turn.text }
        : { type: 'tool_use', id: `toolu_${results.length}`, name: 'opening_hours', input: { day: turn.day } },
    ],
    stop_reason: turn.kind === 'text' ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 7 },
  };
}

const frame = (event: Body) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;

/** The events of a stream, as https://docs.anthropic.com/en/docs/build-with-claude/streaming shows them. */
export function eventsOf(message: Body): ReadonlyArray<string> {
  const start = { ...message, content: [], stop_reason: null, usage: { ...(message.usage as Body), output_tokens: 1 } };
  const blocks = listOf(message.content).flatMap((block, index) => [
    frame({ type: 'content_block_start', index, content_block: emptied(block) }),
    ...deltasOf(block).map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ]);
  const { stop_reason: reason, stop_sequence: sequence } = message;
  return [
    frame({ type: 'message_start', message: start }),
    frame({ type: 'ping' }),
    ...blocks,
    frame({
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: sequence },
      usage: { output_tokens: (message.usage as Body).output_tokens },
    }),
    frame({ type: 'message_stop' }),
  ];
}

function emptied(block: Body): Body {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { ...block, input: {} };
}

function deltasOf(block: Body): ReadonlyArray<Body> {
  if (block.type === 'text') return halvesOf(String(block.text)).map((text) => ({ type: 'text_delta', text }));
  if (block.type === 'tool_use') {
    // A text is of arguments that are cut off.
    const pieces = halvesOf(isText(block.input) ? block.input : JSON.stringify(block.input));
    return ['', ...pieces].map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  }
  return [
    { type: 'thinking_delta', thinking: block.thinking },
    { type: 'signature_delta', signature: block.signature },
  ];
}
