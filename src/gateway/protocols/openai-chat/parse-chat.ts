import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type {
  Conversation,
  ImagePart,
  Part,
  ReasoningPart,
  Tool,
  ToolCallPart,
  ToolResultPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { fileSourceOf, sourceOf } from '#gateway/neutral/source.ts';
import {
  promptControl,
  withCacheControl,
  withMessageControl,
  withOuterControl,
} from '#gateway/protocols/cache-control.ts';
import { calledName, toolCallPart, toolResultPart } from '#gateway/protocols/call-parts.ts';
import {
  type ContentPart,
  filePart,
  imageDetail,
  onlyTexts,
  partsReader,
  refusalPart,
  textPart,
} from '#gateway/protocols/content-parts.ts';
import { freeTextTool, functionTool, named } from '#gateway/protocols/declared-tool.ts';
import { freeTextArguments } from '#gateway/protocols/free-text.ts';
import { LeftOut, saysNothing } from '#gateway/protocols/left-out.ts';
import { openAiOutput } from '#gateway/protocols/output-form.ts';
import {
  effortAt,
  listAt,
  listOr,
  objectOr,
  orUnsupported,
  placedText,
  refuse,
  shown,
  stopsAt,
  textAt,
  textOr,
} from '#gateway/protocols/parsing.ts';
import type { ParsedRequest } from '#gateway/protocols/protocol.ts';
import { type ChoiceForm, openAiToolChoice } from '#gateway/protocols/tool-choice.ts';
import { ToolNames } from '#gateway/protocols/tool-names.ts';
import { TurnCollector } from '#gateway/protocols/turn-collector.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** Schemas are moved as JSON text. */
const keptTexts = [
  ['tools', '*', 'function', 'parameters'],
  ['response_format', 'json_schema', 'schema'],
];

/** The members that are parsed, and those that only say how the answer is sent. */
const requestMembers = [
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'stream',
  'stream_options',
] as const;

/** Arguments of tools are JSON, or become a part of it. */
const jsonInTexts = [
  ['messages', '*', 'tool_calls', '*', 'function', 'arguments'],
  ['messages', '*', 'tool_calls', '*', 'custom', 'input'],
];

/** @param longTexts takes the long texts out; missing if they are to stay */
export async function parseChat(
  bytes: Buffer,
  maxValues: number,
  longTexts?: LongTexts,
): Promise<E.Either<Unsupported | Failure, ParsedRequest>> {
  const body = await parseKeepingText(bytes, keptTexts, { maxValues, jsonInTexts, longTexts });
  if (E.isLeft(body)) return body;
  return orUnsupported(() => parsedOf(body.right));
}

function parsedOf(body: JsonObject): ParsedRequest {
  refuseDemands(body);
  const leftOut = new LeftOut();
  const names = new ToolNames();
  const asked = leftOut.read(body, '', body.model === 'auto' ? [...requestMembers, 'reasoning'] : requestMembers);
  // Whether the client gets the usage of a stream does not concern the target.
  leftOut.read(leftOut.objectAt(asked.stream_options, '/stream_options'), '/stream_options', ['include_usage']);
  const tools = listAt(asked.tools, '/tools')
    .flatMap((tool, index) => toolOf(tool, `/tools/${index}`, leftOut))
    .map((tool) => named(tool, names));
  const conversation: Conversation = {
    ...conversationOf(listAt(asked.messages, '/messages'), names, leftOut),
    ...openAiToolChoice(asked.tool_choice, tools, choiceForm(names), leftOut),
    allowsParallelCalls: leftOut.flagAt(asked.parallel_tool_calls, '/parallel_tool_calls') ?? true,
    maxTokens: maxTokensOf(asked.max_completion_tokens, asked.max_tokens, leftOut),
    temperature: leftOut.numberAt(asked.temperature, '/temperature'),
    topP: leftOut.numberAt(asked.top_p, '/top_p'),
    topK: null,
    stopSequences: stopsAt(asked.stop, '/stop'),
    output: openAiOutput(asked.response_format, '/response_format', 'json_schema', leftOut),
    reasoning: reasoningOf(asked.reasoning_effort, leftOut),
    isStreamed: asked.stream === true,
    ...promptControl(body, leftOut),
  };
  return { conversation, tools: names.clientTools(tools), ignored: leftOut.pointers };
}

/** The newer name counts, and the older one is left out where it says something else. */
function maxTokensOf(limit: Json | undefined, oldLimit: Json | undefined, leftOut: LeftOut): number | null {
  const { value = null } = leftOut.numberAt(limit, '/max_completion_tokens') ?? {};
  if (value === null) return leftOut.numberAt(oldLimit, '/max_tokens')?.value ?? null;
  if (value !== oldLimit) leftOut.addValue(oldLimit, '/max_tokens');
  return value;
}

/** Members that demand what the neutral form does not have. */
const demanding = ['functions', 'function_call', 'audio'];

function refuseDemands(body: JsonObject): void {
  for (const name of demanding)
    if (!saysNothing(body[name])) refuse(`/${name}`, `${name} cannot be expressed for this target`);
  if (typeof body.n === 'number' && body.n > 1) refuse('/n', 'n: this target gives one answer at a time');
  if (body.logprobs === true) refuse('/logprobs', 'logprobs: this target gives no probabilities');
  if (listOr(body.modalities).some((each) => each !== 'text'))
    refuse('/modalities', 'modalities: this target answers with text');
}

function reasoningOf(said: Json | undefined, leftOut: LeftOut): Conversation['reasoning'] {
  const pointer = '/reasoning_effort';
  const effort = effortAt(said, pointer, leftOut);
  return effort === null ? null : { effort, budgetTokens: null, pointer };
}

const toolForm =
  'a tool of chat completions is {"type": "function", "function": {"name": …, "description": …, "parameters": …}}';

function toolOf(tool: Json, pointer: string, leftOut: LeftOut): ReadonlyArray<Tool> {
  if (!isObject(tool)) return refuse(pointer, toolForm);
  const { type, function: named, custom } = tool;
  if (isObject(named) && (type === 'function' || type === undefined)) {
    leftOut.read(tool, pointer, ['type', 'function']);
    return [
      withOuterControl(functionTool(named, 'parameters', `${pointer}/function`, leftOut), tool, pointer, leftOut),
    ];
  }
  if (isObject(custom) && type === 'custom') {
    leftOut.read(tool, pointer, ['type', 'custom']);
    return [withOuterControl(freeTextTool(custom, `${pointer}/custom`, leftOut), tool, pointer, leftOut)];
  }
  if (typeof type !== 'string' || type === 'function' || type === 'custom') return refuse(pointer, toolForm);
  leftOut.add(pointer);
  return [];
}

/** OpenAI's reference: https://platform.openai.com/docs/api-reference/chat/create#chat-create-tool_choice. */
function choiceForm(names: ToolNames): ChoiceForm {
  return {
    allowed: (choice, leftOut) => {
      const { allowed_tools: allowed } = leftOut.read(choice, '/tool_choice', ['type', 'allowed_tools']);
      const pointer = '/tool_choice/allowed_tools';
      return [isObject(allowed) ? allowed : refuse(pointer, 'must be an object with the allowed tools'), pointer];
    },
    nameIn: (object, pointer, leftOut) => {
      const kind = isObject(object.function) ? 'function' : 'custom';
      const { [kind]: chosen } = leftOut.read(object, pointer, ['type', kind]);
      if (!isObject(chosen)) return null;
      const place = `${pointer}/${kind}`;
      return calledName(leftOut.read(chosen, place, ['name']).name, `${place}/name`, names);
    },
  };
}

function conversationOf(
  messages: ReadonlyArray<Json>,
  names: ToolNames,
  leftOut: LeftOut,
): Pick<Conversation, 'system' | 'turns'> {
  const turns = new TurnCollector();
  for (const [index, message] of messages.entries())
    if (isObject(message)) turns.add(turnOf(message, `/messages/${index}`, names, leftOut));
  return turns.collected;
}

function turnOf(message: JsonObject, pointer: string, names: ToolNames, leftOut: LeftOut): Turn {
  const { role } = message;
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: messageParts(message, pointer, leftOut) };
    case 'user':
      return { role, parts: messageParts(message, pointer, leftOut) };
    case 'assistant':
      return { role, parts: assistantParts(message, pointer, names, leftOut) };
    case 'tool':
      return { role: 'user', parts: [resultPart(message, pointer, leftOut)] };
    default:
      return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
  }
}

function messageParts(message: JsonObject, pointer: string, leftOut: LeftOut): ReadonlyArray<ContentPart> {
  const { content } = leftOut.read(message, pointer, ['role', 'content']);
  return withMessageControl(partsOf(content, `${pointer}/content`, leftOut), message, pointer, leftOut);
}

function resultPart(message: JsonObject, pointer: string, leftOut: LeftOut): ToolResultPart {
  const { content, tool_call_id: id } = leftOut.read(message, pointer, ['role', 'content', 'tool_call_id']);
  const parts = onlyTexts(partsOf(content, `${pointer}/content`, leftOut));
  const result = toolResultPart(textAt(id, `${pointer}/tool_call_id`), parts, pointer);
  return withCacheControl(result, message, pointer, leftOut);
}

const partsOf = partsReader([
  ['text', textPart],
  ['image_url', imagePart],
  ['file', inlineFile],
  ['refusal', refusalPart],
]);

function imagePart(part: JsonObject, pointer: string, leftOut: LeftOut): ImagePart | null {
  const { image_url: image } = leftOut.read(part, pointer, ['type', 'image_url']);
  const described = objectOr(typeof image === 'string' ? { url: image } : image);
  const { url, detail } = leftOut.read(described, `${pointer}/image_url`, ['url', 'detail']);
  if (typeof url !== 'string') return null;
  return { kind: 'image', source: sourceOf(url), detail: imageDetail(detail, `${pointer}/image_url/detail`), pointer };
}

function inlineFile(part: JsonObject, pointer: string, leftOut: LeftOut): ContentPart | null {
  const { file } = leftOut.read(part, pointer, ['type', 'file']);
  const { file_data: data, filename } = leftOut.read(objectOr(file), `${pointer}/file`, ['file_data', 'filename']);
  if (typeof data !== 'string') return null;
  return filePart(fileSourceOf(data), placedText(filename, `${pointer}/file/filename`), pointer, leftOut);
}

const assistantMembers = [
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'reasoning_content',
  'reasoning_details',
] as const;

function assistantParts(message: JsonObject, pointer: string, names: ToolNames, leftOut: LeftOut): ReadonlyArray<Part> {
  const read = leftOut.read(message, pointer, assistantMembers);
  const { content, refusal, tool_calls: calls, reasoning_content: thought, reasoning_details: details } = read;
  if (!saysNothing(read.function_call))
    refuse(`${pointer}/function_call`, 'cannot be expressed for this target: send tool_calls');
  const refused = placedText(refusal, `${pointer}/refusal`);
  const parts: ReadonlyArray<Part> = [
    ...reasoningParts(thought, details, pointer, leftOut),
    ...partsOf(content, `${pointer}/content`, leftOut),
    ...(refused === null ? [] : [{ kind: 'text', text: refused.value, pointer: refused.pointer } as const]),
    ...listAt(calls, `${pointer}/tool_calls`).map((call, index) =>
      callOf(call, `${pointer}/tool_calls/${index}`, names, leftOut),
    ),
  ];
  return withMessageControl(parts, message, pointer, leftOut);
}

function callOf(call: Json, pointer: string, names: ToolNames, leftOut: LeftOut): ToolCallPart {
  const { function: named, custom } = objectOr(call);
  if (!isObject(call) || !(isObject(named) || isObject(custom)))
    return refuse(pointer, 'this call of a tool cannot be expressed for this target');
  const kind = isObject(named) ? 'function' : 'custom';
  // The pieces of a streamed call have an index, and some clients send it back.
  const { id, [kind]: called } = leftOut.read(call, pointer, ['id', 'type', 'index', kind]);
  const place = `${pointer}/${kind}`;
  const from = kind === 'function' ? 'arguments' : 'input';
  const read = leftOut.read(objectOr(called), place, ['name', from]);
  const name = calledName(read.name, `${place}/name`, names);
  const text = textAt(read[from], `${place}/${from}`);
  const given = kind === 'function' ? text : freeTextArguments(text ?? '');
  const part = toolCallPart({ id: textAt(id, `${pointer}/id`), name, given }, pointer);
  return withCacheControl(part, call, pointer, leftOut);
}

/** The parts of reasoning: the details that the gateway gave this client, or else the text of the reasoning. */
function reasoningParts(
  thought: Json | undefined,
  details: Json | undefined,
  pointer: string,
  leftOut: LeftOut,
): ReadonlyArray<ReasoningPart> {
  const place = `${pointer}/reasoning_details`;
  if (!Array.isArray(details)) leftOut.addValue(details, place);
  const known = listOr(details).flatMap((detail, index) => detailOf(detail, `${place}/${index}`, leftOut));
  const text = leftOut.textAt(thought, `${pointer}/reasoning_content`);
  if (known.length > 0 || text === null || text === '') return known;
  return [{ kind: 'reasoning', text, signature: null, pointer: `${pointer}/reasoning_content` }];
}

function detailOf(detail: Json, pointer: string, leftOut: LeftOut): ReadonlyArray<ReasoningPart> {
  const { provider, text, signature, data } = objectOr(detail);
  const value = textOr(signature) ?? textOr(data);
  if (typeof provider !== 'string' || value === null) {
    leftOut.add(pointer);
    return [];
  }
  leftOut.read(objectOr(detail), pointer, ['type', 'index', 'provider', 'text', 'signature', 'data']);
  const isRedacted = typeof data === 'string';
  return [{ kind: 'reasoning', text: textOr(text) ?? '', signature: { of: provider, value, isRedacted }, pointer }];
}
