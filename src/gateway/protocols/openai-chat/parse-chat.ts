import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type {
  Conversation,
  Part,
  ReasoningPart,
  Tool,
  ToolCallPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { sourceOf } from '#gateway/neutral/source.ts';
import { freeTextArguments } from '#gateway/protocols/free-text.ts';
import {
  type ContentPart,
  filePart,
  freeTextTool,
  functionTool,
  onlyTexts,
  openAiOutput,
  openAiToolChoice,
  TurnCollector,
  toolCallPart,
  toolResultPart,
} from '#gateway/protocols/parsed-parts.ts';
import {
  effortNamed,
  listOr,
  numberOr,
  orUnsupported,
  refuse,
  saysNothing,
  shown,
  textOr,
  tunedOf,
} from '#gateway/protocols/parsing.ts';
import type { ParsedRequest } from '#gateway/protocols/protocol.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

/** Schemas are moved as JSON text. */
const keptTexts = [
  ['tools', '*', 'function', 'parameters'],
  ['response_format', 'json_schema', 'schema'],
];

/** Arguments of tools are JSON, or become a part of it. */
const jsonInTexts = [
  ['messages', '*', 'tool_calls', '*', 'function', 'arguments'],
  ['messages', '*', 'tool_calls', '*', 'custom', 'input'],
];

/** The members that are parsed, and those that only say how the answer is sent. */
const known = new Set([
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
  'n',
  'logprobs',
]);

/** Members that demand what the neutral form does not have. */
const demanding = new Set(['functions', 'function_call', 'audio']);

/**
 * Parses a chat request to the neutral form.
 * @param maxValues the most values in it
 * @param longTexts takes the long texts out; missing if they are to stay
 */
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
  const ignored = new Set<string>();
  for (const [name, value] of Object.entries(body)) {
    if (saysNothing(value) || (name === 'reasoning' && body.model === 'auto')) continue;
    if (demanding.has(name)) refuse(`/${name}`, `${name} cannot be expressed for this target`);
    if (!known.has(name) && !isTextModality(name, value)) ignored.add(pointerTo([name]));
  }
  if (typeof body.n === 'number' && body.n > 1) refuse('/n', 'n: this target gives one answer at a time');
  if (body.logprobs === true) refuse('/logprobs', 'logprobs: this target gives no probabilities');
  const { system, turns } = conversationOf(listOr(body.messages), ignored);
  const tools = listOr(body.tools).flatMap((tool, index) => toolOf(tool, `/tools/${index}`, ignored));
  const conversation: Conversation = {
    system,
    turns,
    tools,
    toolChoice: openAiToolChoice(body.tool_choice, tools, forcedName),
    allowsParallelCalls: body.parallel_tool_calls !== false,
    maxTokens: numberOr(body.max_completion_tokens) ?? numberOr(body.max_tokens),
    temperature: tunedOf(body.temperature, '/temperature'),
    topP: tunedOf(body.top_p, '/top_p'),
    topK: null,
    stopSequences: typeof body.stop === 'string' ? [body.stop] : listOr(body.stop).filter(isText),
    output: openAiOutput(body.response_format, (format) => format.json_schema, '/response_format'),
    reasoning: reasoningOf(body.reasoning_effort),
    isStreamed: body.stream === true,
  };
  return { conversation, ignored: [...ignored] };
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

/** Whether a member asks for texts alone, which every model gives. */
function isTextModality(name: string, value: Json | undefined): boolean {
  if (name !== 'modalities') return false;
  if (listOr(value).some((each) => each !== 'text')) refuse('/modalities', 'modalities: this target answers with text');
  return true;
}

function reasoningOf(effort: Json | undefined): Conversation['reasoning'] {
  if (typeof effort !== 'string') return null;
  return { effort: effortNamed(effort), budgetTokens: null, pointer: '/reasoning_effort' };
}

function toolOf(tool: Json, pointer: string, ignored: Set<string>): ReadonlyArray<Tool> {
  if (isObject(tool) && tool.type === 'function' && isObject(tool.function))
    return [functionTool(tool.function, tool.function.parameters, pointer)];
  if (isObject(tool) && tool.type === 'custom' && isObject(tool.custom))
    return [freeTextTool(tool.custom, `${pointer}/custom`, ignored)];
  ignored.add(pointer);
  return [];
}

function forcedName(choice: JsonObject): Json | undefined {
  const named = choice.function ?? choice.custom;
  return isObject(named) ? named.name : undefined;
}

function conversationOf(messages: ReadonlyArray<Json>, ignored: Set<string>): Pick<Conversation, 'system' | 'turns'> {
  const turns = new TurnCollector();
  for (const [index, message] of messages.entries())
    if (isObject(message)) turns.add(turnOf(message, `/messages/${index}`, ignored));
  return turns.collected;
}

function turnOf(message: JsonObject, pointer: string, ignored: Set<string>): Turn {
  const { role, name, content, tool_call_id: callId } = message;
  if (!saysNothing(name)) ignored.add(`${pointer}/name`);
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: partsOf(content, `${pointer}/content`) };
    case 'user':
      return { role, parts: partsOf(content, `${pointer}/content`) };
    case 'assistant':
      return { role, parts: assistantParts(message, pointer) };
    case 'tool': {
      const parts = onlyTexts(partsOf(content, `${pointer}/content`));
      return { role: 'user', parts: [toolResultPart(callId, parts, pointer)] };
    }
    default:
      return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
  }
}

function partsOf(content: Json | undefined, pointer: string): ReadonlyArray<ContentPart> {
  if (typeof content === 'string') return [{ kind: 'text', text: content, pointer }];
  return listOr(content).map((part, index) => partOf(part, `${pointer}/${index}`));
}

function partOf(part: Json, pointer: string): ContentPart {
  if (!isObject(part)) return refuse(pointer, 'is not a part of a content');
  const { type, text, image_url: image, file } = part;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text, pointer };
  if (type === 'image_url') {
    const url = isObject(image) ? textOr(image.url) : textOr(image);
    if (url !== null) return { kind: 'image', source: sourceOf(url), pointer };
  }
  if (type === 'file' && isObject(file) && typeof file.file_data === 'string')
    return filePart(sourceOf(file.file_data), textOr(file.filename), pointer);
  return refuse(pointer, `a part of the type ${shown(type)} cannot be expressed for this target`);
}

function assistantParts(message: JsonObject, pointer: string): ReadonlyArray<Part> {
  const { content, refusal, tool_calls: calls } = message;
  return [
    ...reasoningParts(message, pointer),
    ...(typeof content === 'string'
      ? partsOf(content, `${pointer}/content`)
      : listOr(content).map((part, index) => assistantPart(part, `${pointer}/content/${index}`))),
    ...(typeof refusal === 'string' && refusal !== ''
      ? [{ kind: 'text', text: refusal, pointer: `${pointer}/refusal` } as const]
      : []),
    ...listOr(calls).map((call, index) => callOf(call, `${pointer}/tool_calls/${index}`)),
  ];
}

function assistantPart(part: Json, pointer: string): Part {
  if (isObject(part) && part.type === 'refusal' && typeof part.refusal === 'string')
    return { kind: 'text', text: part.refusal, pointer };
  return partOf(part, pointer);
}

function callOf(call: Json, pointer: string): ToolCallPart {
  if (isObject(call) && isObject(call.function)) {
    const { name, arguments: given } = call.function;
    return toolCallPart({ id: call.id, name }, textOr(given), pointer);
  }
  if (isObject(call) && isObject(call.custom)) {
    const { name, input } = call.custom;
    return toolCallPart({ id: call.id, name }, freeTextArguments(textOr(input) ?? ''), pointer);
  }
  return refuse(pointer, 'this call of a tool cannot be expressed for this target');
}

/** The details that the gateway gave this client, or else the text of the reasoning. */
function reasoningParts(
  { reasoning_content: text, reasoning_details: details }: JsonObject,
  pointer: string,
): ReadonlyArray<ReasoningPart> {
  const known = listOr(details).flatMap((detail, index) => detailOf(detail, `${pointer}/reasoning_details/${index}`));
  if (known.length > 0 || typeof text !== 'string' || text === '') return known;
  return [{ kind: 'reasoning', text, signature: null, pointer: `${pointer}/reasoning_content` }];
}

function detailOf(detail: Json, pointer: string): ReadonlyArray<ReasoningPart> {
  if (!isObject(detail)) return [];
  const { provider, text, signature, data } = detail;
  const value = textOr(signature) ?? textOr(data);
  if (typeof provider !== 'string' || value === null) return [];
  const isRedacted = typeof data === 'string';
  return [{ kind: 'reasoning', text: textOr(text) ?? '', signature: { of: provider, value, isRedacted }, pointer }];
}
