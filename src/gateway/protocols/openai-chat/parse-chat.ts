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
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { sourceOf } from '#gateway/neutral/source.ts';
import { freeTextArguments } from '#gateway/protocols/free-text.ts';
import { LeftOut, saysNothing } from '#gateway/protocols/left-out.ts';
import {
  type ContentPart,
  contentParts,
  filePart,
  freeTextTool,
  functionTool,
  imageDetail,
  onlyTexts,
  openAiOutput,
  openAiToolChoice,
  type PartReader,
  placedText,
  TurnCollector,
  textPart,
  toolCallPart,
  toolResultPart,
} from '#gateway/protocols/parsed-parts.ts';
import {
  effortNamed,
  listAt,
  listOr,
  objectOr,
  orUnsupported,
  refuse,
  shown,
  stopsAt,
  textAt,
  textOr,
} from '#gateway/protocols/parsing.ts';
import type { ParsedRequest } from '#gateway/protocols/protocol.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

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
  refuseDemands(body);
  const leftOut = new LeftOut();
  const { model, messages, tools: declared, tool_choice: choice, parallel_tool_calls: parallel, ...asked } = body;
  const { response_format: format, reasoning_effort: effort, stream, stream_options: streaming, ...tuning } = asked;
  const { max_completion_tokens: limit, max_tokens: oldLimit, temperature, top_p: topP, stop, ...others } = tuning;
  const { reasoning, ...rest } = others;
  leftOut.addMembers(model === 'auto' ? rest : others, '');
  // Whether the client gets the usage of a stream does not concern the target.
  const { include_usage, ...otherStreaming } = leftOut.objectAt(streaming, '/stream_options');
  leftOut.addMembers(otherStreaming, '/stream_options');
  const tools = listAt(declared, '/tools').flatMap((tool, index) => toolOf(tool, `/tools/${index}`, leftOut));
  const conversation: Conversation = {
    ...conversationOf(listAt(messages, '/messages'), leftOut),
    tools,
    toolChoice: openAiToolChoice(choice, tools, (each) => forcedName(each, leftOut)),
    allowsParallelCalls: parallel !== false,
    maxTokens:
      leftOut.numberAt(limit, '/max_completion_tokens')?.value ??
      leftOut.numberAt(oldLimit, '/max_tokens')?.value ??
      null,
    temperature: leftOut.numberAt(temperature, '/temperature'),
    topP: leftOut.numberAt(topP, '/top_p'),
    topK: null,
    stopSequences: stopsAt(stop, '/stop'),
    output: openAiOutput(format, '/response_format', 'json_schema', leftOut),
    reasoning: reasoningOf(effort, leftOut),
    isStreamed: stream === true,
  };
  return { conversation, ignored: leftOut.pointers };
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
  const effort = leftOut.textAt(said, pointer);
  return effort === null ? null : { effort: effortNamed(effort), budgetTokens: null, pointer };
}

const toolForm =
  'a tool of chat completions is {"type": "function", "function": {"name": …, "description": …, "parameters": …}}';

function toolOf(tool: Json, pointer: string, leftOut: LeftOut): ReadonlyArray<Tool> {
  if (!isObject(tool)) return refuse(pointer, toolForm);
  const { type, function: named, custom, ...others } = tool;
  if (isObject(named) && (type === 'function' || type === undefined)) {
    const { parameters, ...declared } = named;
    leftOut.addMembers(others, pointer);
    return [functionTool(declared, parameters, `${pointer}/function`, leftOut)];
  }
  if (isObject(custom) && type === 'custom') {
    leftOut.addMembers(others, pointer);
    return [freeTextTool(custom, `${pointer}/custom`, leftOut)];
  }
  if (typeof type !== 'string' || type === 'function' || type === 'custom') return refuse(pointer, toolForm);
  leftOut.add(pointer);
  return [];
}

function forcedName({ type, function: named, custom, ...others }: JsonObject, leftOut: LeftOut): Json | undefined {
  leftOut.addMembers(others, '/tool_choice');
  const chosen = named ?? custom;
  if (!isObject(chosen)) return undefined;
  const { name, ...rest } = chosen;
  leftOut.addMembers(rest, named === undefined ? '/tool_choice/custom' : '/tool_choice/function');
  return name;
}

function conversationOf(messages: ReadonlyArray<Json>, leftOut: LeftOut): Pick<Conversation, 'system' | 'turns'> {
  const turns = new TurnCollector();
  for (const [index, message] of messages.entries())
    if (isObject(message)) turns.add(turnOf(message, `/messages/${index}`, leftOut));
  return turns.collected;
}

function turnOf({ role, content, ...others }: JsonObject, pointer: string, leftOut: LeftOut): Turn {
  const place = `${pointer}/content`;
  switch (role) {
    case 'system':
    case 'developer':
      leftOut.addMembers(others, pointer);
      return { role: 'system', parts: partsOf(content, place, leftOut) };
    case 'user':
      leftOut.addMembers(others, pointer);
      return { role, parts: partsOf(content, place, leftOut) };
    case 'assistant':
      return { role, parts: assistantParts({ content, ...others }, pointer, leftOut) };
    case 'tool': {
      const { tool_call_id: id, ...rest } = others;
      leftOut.addMembers(rest, pointer);
      const parts = onlyTexts(partsOf(content, place, leftOut));
      return { role: 'user', parts: [toolResultPart(textAt(id, `${pointer}/tool_call_id`), parts, pointer)] };
    }
    default:
      return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
  }
}

function partsOf(content: Json | undefined, pointer: string, leftOut: LeftOut): ReadonlyArray<ContentPart> {
  return contentParts(content, pointer, (part, place) => partOf(part, place, leftOut));
}

function partOf({ type, ...members }: JsonObject, pointer: string, leftOut: LeftOut): ContentPart {
  const read = partReaders.get(type ?? null)?.(members, pointer, leftOut) ?? null;
  return read ?? refuse(pointer, `a part of the type ${shown(type)} cannot be expressed for this target`);
}

const partReaders: ReadonlyMap<Json, PartReader> = new Map<Json, PartReader>([
  ['text', textPart],
  ['image_url', imagePart],
  ['file', inlineFile],
]);

function imagePart({ image_url: image, ...others }: JsonObject, pointer: string, leftOut: LeftOut): ImagePart | null {
  const { url, detail, ...rest } = objectOr(typeof image === 'string' ? { url: image } : image);
  if (typeof url !== 'string') return null;
  leftOut.addMembers(others, pointer);
  leftOut.addMembers(rest, `${pointer}/image_url`);
  return { kind: 'image', source: sourceOf(url), detail: imageDetail(detail, `${pointer}/image_url/detail`), pointer };
}

function inlineFile({ file, ...others }: JsonObject, pointer: string, leftOut: LeftOut): ContentPart | null {
  const { file_data: data, filename, ...rest } = objectOr(file);
  if (typeof data !== 'string') return null;
  leftOut.addMembers(others, pointer);
  leftOut.addMembers(rest, `${pointer}/file`);
  return filePart(sourceOf(data), placedText(filename, `${pointer}/file/filename`), pointer, leftOut);
}

function assistantParts(message: JsonObject, pointer: string, leftOut: LeftOut): ReadonlyArray<Part> {
  const { content, refusal, tool_calls: calls, function_call: oldCall, ...members } = message;
  const { reasoning_content: thought, reasoning_details: details, ...others } = members;
  leftOut.addMembers(others, pointer);
  if (!saysNothing(oldCall)) refuse(`${pointer}/function_call`, 'cannot be expressed for this target: send tool_calls');
  const refused = placedText(refusal, `${pointer}/refusal`);
  return [
    ...reasoningParts(thought, details, pointer, leftOut),
    ...contentParts(content, `${pointer}/content`, (part, place) => assistantPart(part, place, leftOut)),
    ...(refused === null ? [] : [{ kind: 'text', text: refused.value, pointer: refused.pointer } as const]),
    ...listAt(calls, `${pointer}/tool_calls`).map((call, index) =>
      callOf(call, `${pointer}/tool_calls/${index}`, leftOut),
    ),
  ];
}

function assistantPart(part: JsonObject, pointer: string, leftOut: LeftOut): Part {
  if (part.type !== 'refusal' || typeof part.refusal !== 'string') return partOf(part, pointer, leftOut);
  const { type, refusal: text, ...others } = part;
  leftOut.addMembers(others, pointer);
  return { kind: 'text', text: part.refusal, pointer };
}

function callOf(call: Json, pointer: string, leftOut: LeftOut): ToolCallPart {
  const { id: callId, type, function: named, custom, ...others } = objectOr(call);
  leftOut.addMembers(others, pointer);
  const id = textAt(callId, `${pointer}/id`);
  if (isObject(named)) {
    const { name, arguments: given, ...rest } = named;
    const place = `${pointer}/function`;
    leftOut.addMembers(rest, place);
    const members = { id, name: textAt(name, `${place}/name`), given: textAt(given, `${place}/arguments`) };
    return toolCallPart(members, pointer);
  }
  if (isObject(custom)) {
    const { name, input, ...rest } = custom;
    const place = `${pointer}/custom`;
    leftOut.addMembers(rest, place);
    const given = freeTextArguments(textAt(input, `${place}/input`) ?? '');
    return toolCallPart({ id, name: textAt(name, `${place}/name`), given }, pointer);
  }
  return refuse(pointer, 'this call of a tool cannot be expressed for this target');
}

/** The details that the gateway gave this client, or else the text of the reasoning. */
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
  const { type, index, provider, text, signature, data, ...others } = objectOr(detail);
  const value = textOr(signature) ?? textOr(data);
  if (typeof provider !== 'string' || value === null) {
    leftOut.add(pointer);
    return [];
  }
  leftOut.addMembers(others, pointer);
  const isRedacted = typeof data === 'string';
  return [{ kind: 'reasoning', text: textOr(text) ?? '', signature: { of: provider, value, isRedacted }, pointer }];
}
