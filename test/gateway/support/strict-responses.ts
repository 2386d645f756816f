import {
  type Answer,
  type Body,
  bearerRule,
  faultIn,
  halvesOf,
  isObject,
  isText,
  listOf,
  memberRules,
  nextTurn,
  type Rule,
  refuseAsOpenAi,
  rule,
  type StrictProvider,
  sendAsAsked,
  strictProvider,
  textIn,
  unknownIn,
} from './strict-provider.ts';

const api = 'https://platform.openai.com/docs/api-reference/responses/create';
const state = 'https://platform.openai.com/docs/guides/conversation-state';
const reasoning = 'https://platform.openai.com/docs/guides/reasoning';
const calling = 'https://platform.openai.com/docs/guides/function-calling';

const members = [
  ...['model', 'input', 'instructions', 'max_output_tokens', 'max_tool_calls', 'metadata', 'parallel_tool_calls'],
  ...['previous_response_id', 'prompt', 'prompt_cache_key', 'reasoning', 'safety_identifier', 'service_tier', 'store'],
  ...['stream', 'stream_options', 'temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p'],
  ...['truncation', 'user', 'include', 'background', 'conversation', 'context_management'],
];

const itemMembers: Readonly<Record<string, ReadonlyArray<string>>> = {
  message: ['type', 'id', 'role', 'content', 'status', 'phase'],
  function_call: ['type', 'id', 'call_id', 'name', 'arguments', 'status', 'namespace'],
  function_call_output: ['type', 'id', 'call_id', 'output', 'status'],
  custom_tool_call: ['type', 'id', 'call_id', 'name', 'input', 'status'],
  custom_tool_call_output: ['type', 'id', 'call_id', 'output', 'status'],
  reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content', 'status'],
};

const itemsOf = ({ input }: Body) => listOf(input);
const typeOf = (item: Body) => (isText(item.type) ? item.type : 'message');

function faultOfCalls(items: ReadonlyArray<Body>): string | null {
  const calls = items.filter((item) => ['function_call', 'custom_tool_call'].includes(typeOf(item)));
  const outputs = items.filter((item) => typeOf(item).endsWith('_output'));
  const unasked = outputs.find(({ call_id: id }) => !calls.some((call) => call.call_id === id));
  if (unasked !== undefined) return `No tool call found for function call output with call_id ${unasked.call_id}.`;
  const unanswered = calls.find(({ call_id: id }) => !outputs.some((output) => output.call_id === id));
  return unanswered === undefined ? null : `No tool output found for function call ${unanswered.call_id}.`;
}

function faultOfWordJson({ input }: Body): string | null {
  const read = isText(input) ? input : listOf(input).filter(({ role }) => role !== 'system');
  return /json/i.test(JSON.stringify(read))
    ? null
    : "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
}

/** The members of a namespace are functions and custom tools. */
function isTool({ type, name, description, tools }: Body): boolean {
  if (type !== 'namespace') return type === 'custom' || (type === 'function' && isText(name));
  const inside = listOf(tools);
  return isText(name) && isText(description) && inside.every((tool) => tool.type !== 'namespace' && isTool(tool));
}

/** What OpenAI's reference refuses of a client that stores nothing there. @param name of the provider, in its reasoning */
export const responsesRules = (name: string): ReadonlyArray<Rule> => [
  bearerRule,
  ...memberRules(api, members),
  rule(api, ({ input }) => (isText(input) || Array.isArray(input) ? null : 'input: is required')),
  rule(api, (body) => {
    const unknown = itemsOf(body).find((item) => !(typeOf(item) in itemMembers));
    return unknown === undefined ? null : `Item with id '${unknown.id}' of type ${unknown.type} not found.`;
  }),
  rule(api, (body) => faultIn(itemsOf(body), (item) => unknownIn(item, itemMembers[typeOf(item)] ?? []))),
  rule(api, (body) =>
    itemsOf(body)
      .filter(({ role }) => role === 'assistant')
      .flatMap(({ content }) => listOf(content))
      .every(({ type }) => type === 'output_text' || type === 'refusal')
      ? null
      : "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
  ),
  rule(api, (body) =>
    itemsOf(body)
      .filter(({ role }) => role === 'user')
      .flatMap(({ content }) => listOf(content))
      .every(({ type }) => ['input_text', 'input_image', 'input_file'].includes(String(type)))
      ? null
      : 'content: only input_text, input_image and input_file',
  ),
  rule(state, ({ store }) => (store === false ? null : 'store: this account stores nothing')),
  rule(state, ({ previous_response_id: id }) =>
    id === undefined || id === null ? null : `Previous response with id '${id}' not found.`,
  ),
  rule(reasoning, (body) =>
    itemsOf(body)
      .filter((item) => typeOf(item) === 'reasoning')
      .every(({ encrypted_content: value }) => isText(value) && value.startsWith(`${name}-`))
      ? null
      : 'The encrypted content could not be verified.',
  ),
  rule(calling, ({ tools }) => (listOf(tools).every(isTool) ? null : 'tools: is not a tool that this provider runs')),
  rule(calling, (body) => faultOfCalls(itemsOf(body))),
  rule(api, (body) =>
    itemsOf(body).every(({ call_id: id }) => !isText(id) || id.length <= 64)
      ? null
      : "Invalid 'call_id': string too long. Expected a string with maximum length 64.",
  ),
  // OpenAI reads neither the instructions nor what the system says in the input.
  rule('https://platform.openai.com/docs/guides/structured-outputs#json-mode', (body) =>
    isObject(body.text) && isObject(body.text.format) && body.text.format.type === 'json_object'
      ? faultOfWordJson(body)
      : null,
  ),
  rule(api, ({ max_output_tokens: max }) =>
    typeof max !== 'number' || max >= 16 ? null : "Invalid 'max_output_tokens': Expected a value >= 16",
  ),
  rule(calling, ({ tools }) =>
    listOf(tools)
      .flatMap((tool) => (tool.type === 'namespace' ? listOf(tool.tools) : [tool]))
      .every(({ type, parameters }) => type !== 'function' || isObject(parameters))
      ? null
      : "Missing required parameter: 'tools[0].parameters'.",
  ),
  rule(reasoning, (body) => {
    const items = itemsOf(body);
    const isFollowed = (at: number) =>
      (items[at + 1] !== undefined && typeOf(items[at + 1] as Body) !== 'message') ||
      items[at + 1]?.role === 'assistant';
    const lone = items.find((item, at) => typeOf(item) === 'reasoning' && !isFollowed(at));
    return lone === undefined ? null : "Item of type 'reasoning' was provided without its required following item.";
  }),
  // What GPT-5.4 and later refuse.
  rule(reasoning, ({ reasoning: asked }) =>
    isObject(asked) && asked.effort === 'minimal'
      ? "Unsupported value: 'minimal' is not supported with this model"
      : null,
  ),
  rule('https://platform.openai.com/docs/guides/latest-model', ({ reasoning: asked, temperature, top_p: topP }) =>
    isObject(asked) && asked.effort !== 'none' && (temperature !== undefined || topP !== undefined)
      ? "Unsupported parameter: 'temperature' is not supported with this model."
      : null,
  ),
];

/**
 * A strict provider of Responses, which stores nothing.
 * @param name marks its reasoning, which no other provider can read
 * @param answer default: it plays one conversation, and reasons before each answer
 */
export function strictResponses(name = 'enc', answer: Answer = conversationOf(name)): StrictProvider {
  return strictProvider(responsesRules(name), refuseAsOpenAi, answer);
}

const conversationOf =
  (name: string): Answer =>
  (res, body) => {
    const response = responseTo(body, name);
    return sendAsAsked(res, body, response, () => eventsOfResponse(response));
  };

let made = 0;

/** A response of OpenAI's. */
export function openAiResponse(output: ReadonlyArray<Body>, more: Body = {}): Body {
  made += 1;
  return {
    id: `resp_fake${made}`,
    object: 'response',
    created_at: 1_767_225_600,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: 'gpt-x',
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: {
      input_tokens: 15,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 22,
    },
    user: null,
    metadata: {},
    ...more,
  };
}

/** A message of the output. */
export function outputMessage(text: string): Body {
  made += 1;
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text }];
  return { id: `msg_fake${made}`, type: 'message', status: 'completed', role: 'assistant', content };
}

function responseTo(body: Body, name: string): Body {
  const items = itemsOf(body);
  const results = items.filter((item) => typeOf(item).endsWith('_output')).map(({ output }) => textIn(output));
  const asked = isText(body.input) ? body.input : textIn(items.at(-1)?.content);
  const turn = nextTurn(results, listOf(body.tools).length > 0, asked);
  const wantsReasoning = Array.isArray(body.include) && body.include.includes('reasoning.encrypted_content');
  made += 1;
  const thought = {
    id: `rs_fake${made}`,
    type: 'reasoning',
    summary: [],
    ...(wantsReasoning ? { encrypted_content: `${name}-fake${made}` } : {}),
  };
  const last =
    turn.kind === 'text'
      ? outputMessage(turn.text)
      : {
          id: `fc_fake${made}`,
          type: 'function_call',
          status: 'completed',
          call_id: `call_${results.length}`,
          name: 'opening_hours',
          arguments: JSON.stringify({ day: turn.day }),
        };
  return openAiResponse([thought, last], { model: body.model, store: body.store });
}

/** The events of a response, as OpenAI streams it: each text in two pieces. */
export function eventsOfResponse(response: Body): ReadonlyArray<string> {
  let sequence = 0;
  const event = (type: string, more: Body) => {
    const text = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...more })}\n\n`;
    sequence += 1;
    return text;
  };
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    ...listOf(response.output).flatMap((item, index) => eventsOfItem(event, item, index)),
  ];
  return [...events, event(`response.${response.status}`, { response })];
}

type Event = (type: string, more: Body) => string;

function eventsOfItem(event: Event, item: Body, index: number): ReadonlyArray<string> {
  const place = { item_id: item.id, output_index: index };
  const { empty, events } = inner[String(item.type)] ?? { empty: {}, events: () => [] };
  const begun = { ...item, status: 'in_progress', ...empty };
  return [
    event('response.output_item.added', { output_index: index, item: begun }),
    ...events(event, item, place),
    event('response.output_item.done', { output_index: index, item }),
  ];
}

/** What an item has not when it begins, and the events inside of it. */
const inner: Readonly<
  Record<string, { readonly empty: Body; readonly events: (event: Event, item: Body, place: Body) => string[] }>
> = {
  message: { empty: { content: [] }, events: partEvents },
  function_call: { empty: { arguments: '' }, events: argumentEvents },
  reasoning: { empty: { summary: [] }, events: summaryEvents },
};

function summaryEvents(event: Event, item: Body, place: Body): string[] {
  return listOf(item.summary).flatMap((part, index) => {
    const at = { ...place, summary_index: index };
    return [
      event('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }),
      ...piecesOf(part.text).map((delta) => event('response.reasoning_summary_text.delta', { ...at, delta })),
      event('response.reasoning_summary_text.done', { ...at, text: part.text }),
      event('response.reasoning_summary_part.done', { ...at, part }),
    ];
  });
}

function piecesOf(text: unknown): ReadonlyArray<string> {
  return halvesOf(String(text)).filter((piece) => piece !== '');
}

function partEvents(event: Event, item: Body, place: Body): string[] {
  return listOf(item.content).flatMap((part, index) => {
    const at = { ...place, content_index: index };
    const text = String(part.text);
    return [
      event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
      ...piecesOf(text).map((delta) =>
        event('response.output_text.delta', { ...at, delta, logprobs: [], obfuscation: 'x1' }),
      ),
      event('response.output_text.done', { ...at, text, logprobs: [] }),
      event('response.content_part.done', { ...at, part }),
    ];
  });
}

function argumentEvents(event: Event, item: Body, place: Body): string[] {
  return [
    ...piecesOf(item.arguments).map((delta) => event('response.function_call_arguments.delta', { ...place, delta })),
    event('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments }),
  ];
}
