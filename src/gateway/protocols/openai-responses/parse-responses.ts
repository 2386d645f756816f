import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type {
  Conversation,
  ImagePart,
  OutputForm,
  ReasoningPart,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { sourceOf } from '#gateway/neutral/source.ts';
import { freeTextArguments } from '#gateway/protocols/free-text.ts';
import { LeftOut } from '#gateway/protocols/left-out.ts';
import {
  anyTool,
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
  textAt,
  textOr,
} from '#gateway/protocols/parsing.ts';
import type { ParsedRequest } from '#gateway/protocols/protocol.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { signatureIn } from './encrypted-content.ts';
import { noBackground } from './responses-body.ts';
import type { ResponsesRequest } from './responses-request.ts';

/** Schemas are moved as JSON text. */
const keptTexts = [
  ['tools', '*', 'parameters'],
  ['text', 'format', 'schema'],
];

/** Arguments of tools are JSON, or become a part of it. */
const jsonInTexts = [
  ['input', '*', 'arguments'],
  ['input', '*', 'input'],
];

/** The provider's own name of its opaque reasoning, which no other protocol reads. */
const foreignReasoning = 'openai-responses';

/**
 * Parses a request of Responses to the neutral form.
 * @param maxValues the most values in it and in the items before it
 * @param longTexts takes the long texts out; missing if they are to stay
 */
export async function parseResponses(
  { bytes, before }: Pick<ResponsesRequest, 'bytes' | 'before'>,
  maxValues: number,
  longTexts?: LongTexts,
): Promise<E.Either<Unsupported | Failure, ParsedRequest>> {
  const body = await parseKeepingText(bytes, keptTexts, {
    maxValues: Math.max(1, maxValues - (before?.values ?? 0)),
    jsonInTexts,
    longTexts,
  });
  if (E.isLeft(body)) return body;
  const items = before === null ? [] : await before.parse();
  return orUnsupported(() => parsedOf(before === null ? body.right : withItems(body.right, items)));
}

function withItems(body: JsonObject, items: ReadonlyArray<JsonObject>): JsonObject {
  const { input } = body;
  const own = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : listOr(input);
  return { ...body, input: [...items, ...own] };
}

function parsedOf(body: JsonObject): ParsedRequest {
  if (body.background === true) refuse(noBackground.pointer, noBackground.message);
  const leftOut = new LeftOut();
  const { model, input, instructions, tools: declared, tool_choice: choice, stream, ...kept } = body;
  // The gateway itself answers these.
  const { store, previous_response_id, metadata, ...asked } = kept;
  const { parallel_tool_calls: parallel, text, reasoning, stream_options: streaming, ...tuning } = asked;
  const { max_output_tokens: maxTokens, temperature, top_p: topP, ...others } = tuning;
  leftOut.addMembers(others, '');
  leftOut.addMembers(leftOut.objectAt(streaming, '/stream_options'), '/stream_options');
  const all = listAt(declared, '/tools').flatMap((tool, index) => toolOf(tool, `/tools/${index}`, leftOut));
  const tools = allowedTools(choice, all, leftOut);
  const { system, turns } = conversationOf(input, leftOut);
  const conversation: Conversation = {
    system: [...instructionsIn(instructions), ...system],
    turns,
    tools,
    toolChoice: toolChoiceOf(choice, tools, leftOut),
    allowsParallelCalls: parallel !== false,
    maxTokens: leftOut.numberAt(maxTokens, '/max_output_tokens')?.value ?? null,
    temperature: leftOut.numberAt(temperature, '/temperature'),
    topP: leftOut.numberAt(topP, '/top_p'),
    topK: null,
    stopSequences: [],
    output: outputOf(text, leftOut),
    reasoning: reasoningOf(reasoning, leftOut),
    isStreamed: stream === true,
  };
  return { conversation, ignored: leftOut.pointers };
}

function instructionsIn(instructions: Json | undefined): ReadonlyArray<TextPart> {
  const text = textAt(instructions, '/instructions');
  return text === null || text === '' ? [] : [{ kind: 'text', text, pointer: '/instructions' }];
}

function reasoningOf(reasoning: Json | undefined, leftOut: LeftOut): Conversation['reasoning'] {
  const { effort: said, ...others } = leftOut.objectAt(reasoning, '/reasoning');
  leftOut.addMembers(others, '/reasoning');
  const pointer = '/reasoning/effort';
  const effort = leftOut.textAt(said, pointer);
  return effort === null ? null : { effort: effortNamed(effort), budgetTokens: null, pointer };
}

function outputOf(text: Json | undefined, leftOut: LeftOut): OutputForm | null {
  const { format, ...others } = leftOut.objectAt(text, '/text');
  leftOut.addMembers(others, '/text');
  return openAiOutput(format, '/text/format', null, leftOut);
}

const toolForm = 'a tool of Responses is {"type": "function", "name": …, "description": …, "parameters": …}';

function toolOf(tool: Json, pointer: string, leftOut: LeftOut): ReadonlyArray<Tool> {
  if (!isObject(tool) || isForeignTool(tool)) return refuse(pointer, toolForm);
  const { type, parameters, ...declared } = tool;
  if (type === 'function') return [functionTool(declared, parameters, pointer, leftOut)];
  if (type === 'custom') return [freeTextTool(tool, pointer, leftOut)];
  // A tool of another type runs at OpenAI.
  leftOut.add(pointer);
  return [];
}

/** Whether a tool is declared as in chat completions or Messages: without this, its name and schema would be lost. */
function isForeignTool({ type, function: inside, custom, input_schema: schema }: JsonObject): boolean {
  if (typeof type !== 'string') return true;
  const isOwn = type === 'function' || type === 'custom';
  return isOwn && (isObject(inside) || isObject(custom) || isObject(schema));
}

/** The tools that a choice allows: all without one. An allowed tool that the target does not get is left out. */
function allowedTools(choice: Json | undefined, tools: ReadonlyArray<Tool>, leftOut: LeftOut): ReadonlyArray<Tool> {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return tools;
  const declared = new Set<Json | undefined>(tools.map(({ name }) => name));
  const allowed = new Set<Json | undefined>();
  for (const [index, tool] of listAt(choice.tools, '/tool_choice/tools').entries()) {
    const { type, name, ...others } = objectOr(tool);
    const pointer = `/tool_choice/tools/${index}`;
    leftOut.addMembers(others, pointer);
    if (declared.has(name)) allowed.add(name);
    else leftOut.add(pointer);
  }
  return tools.filter(({ name }) => allowed.has(name));
}

/** @param tools those that the choice allows */
function toolChoiceOf(choice: Json | undefined, tools: ReadonlyArray<Tool>, leftOut: LeftOut): ToolChoice | null {
  const { type, name, ...others } = objectOr(choice);
  if (type !== 'allowed_tools') {
    leftOut.addMembers(others, '/tool_choice');
    return openAiToolChoice(choice, tools, () => name);
  }
  const { mode, tools: allowed, ...rest } = others;
  leftOut.addMembers(rest, '/tool_choice');
  return mode === 'required' ? anyTool(tools) : { kind: 'auto' };
}

function conversationOf(input: Json | undefined, leftOut: LeftOut): Pick<Conversation, 'system' | 'turns'> {
  const turns = new TurnCollector();
  if (typeof input === 'string') turns.add({ role: 'user', parts: [{ kind: 'text', text: input, pointer: '/input' }] });
  for (const [index, item] of listOr(input).entries())
    if (isObject(item)) turns.add(turnOf(item, `/input/${index}`, leftOut));
  return turns.collected;
}

/** An id only names an item, here. */
function turnOf({ id, ...item }: JsonObject, pointer: string, leftOut: LeftOut): Turn {
  switch (item.type ?? 'message') {
    case 'message':
      return messageTurn(item, pointer, leftOut);
    case 'function_call':
      return { role: 'assistant', parts: [functionCallPart(item, pointer, leftOut)] };
    case 'custom_tool_call':
      return { role: 'assistant', parts: [customCallPart(item, pointer, leftOut)] };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [resultPart(item, pointer, leftOut)] };
    case 'reasoning':
      return { role: 'assistant', parts: [reasoningPart(item, pointer, leftOut)] };
    default:
      return refuse(pointer, `an item of the type ${shown(item.type)} cannot be expressed for this target`);
  }
}

function messageTurn({ type, role, content, ...others }: JsonObject, pointer: string, leftOut: LeftOut): Turn {
  leftOut.addMembers(others, pointer);
  const parts = partsOf(content, `${pointer}/content`, leftOut);
  if (role === 'user') return { role, parts };
  if (role === 'assistant') return { role, parts: onlyTexts(parts) };
  if (role === 'system' || role === 'developer') return { role: 'system', parts };
  return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
}

function functionCallPart(item: JsonObject, pointer: string, leftOut: LeftOut): ToolCallPart {
  const { arguments: given, ...call } = item;
  return callPart(call, textAt(given, `${pointer}/arguments`), pointer, leftOut);
}

function customCallPart({ input, ...call }: JsonObject, pointer: string, leftOut: LeftOut): ToolCallPart {
  return callPart(call, freeTextArguments(textAt(input, `${pointer}/input`) ?? ''), pointer, leftOut);
}

function callPart(call: JsonObject, given: string | null, pointer: string, leftOut: LeftOut): ToolCallPart {
  const { type, call_id: id, name, ...others } = call;
  leftOut.addMembers(others, pointer);
  return toolCallPart({ id: textAt(id, `${pointer}/call_id`), name: textAt(name, `${pointer}/name`), given }, pointer);
}

function resultPart(item: JsonObject, pointer: string, leftOut: LeftOut): ToolResultPart {
  const { type, call_id: id, output, ...others } = item;
  leftOut.addMembers(others, pointer);
  return toolResultPart(textAt(id, `${pointer}/call_id`), partsOf(output, `${pointer}/output`, leftOut), pointer);
}

/** The opaque part of a provider's own is none that another protocol reads. */
function reasoningPart(item: JsonObject, pointer: string, leftOut: LeftOut): ReasoningPart {
  const { type, summary, content, encrypted_content: encrypted, ...others } = item;
  leftOut.addMembers(others, pointer);
  const text = [...listOr(content), ...listOr(summary)]
    .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n\n');
  const value = textOr(encrypted);
  if (value === null || value === '') return { kind: 'reasoning', text, signature: null, pointer };
  const signature = signatureIn(value) ?? { of: foreignReasoning, value, isRedacted: text === '' };
  return { kind: 'reasoning', text, signature, pointer };
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
  ['input_text', textPart],
  ['output_text', textPart],
  [
    'refusal',
    ({ refusal, ...others }, pointer, leftOut) => textPart({ ...others, text: refusal ?? null }, pointer, leftOut),
  ],
  ['input_image', imagePart],
  ['input_file', inlineFile],
]);

function imagePart(
  { image_url: url, detail, ...others }: JsonObject,
  pointer: string,
  leftOut: LeftOut,
): ImagePart | null {
  if (typeof url !== 'string') return null;
  leftOut.addMembers(others, pointer);
  return { kind: 'image', source: sourceOf(url), detail: imageDetail(detail, `${pointer}/detail`), pointer };
}

function inlineFile(
  { file_data: data, ...members }: JsonObject,
  pointer: string,
  leftOut: LeftOut,
): ContentPart | null {
  const { file_url: url, filename, ...others } = members;
  const source = textOr(data) ?? textOr(url);
  if (source === null) return null;
  leftOut.addMembers(others, pointer);
  if (typeof data === 'string') leftOut.addValue(url, `${pointer}/file_url`);
  return filePart(sourceOf(source), placedText(filename, `${pointer}/filename`), pointer, leftOut);
}
