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
  ToolResultPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { fileSourceOf, sourceOf } from '#gateway/neutral/source.ts';
import { promptControl, withCacheControl, withMessageControl } from '#gateway/protocols/cache-control.ts';
import { freeTextArguments } from '#gateway/protocols/free-text.ts';
import { LeftOut } from '#gateway/protocols/left-out.ts';
import {
  type ChoiceForm,
  type ContentPart,
  calledName,
  contentParts,
  filePart,
  freeTextTool,
  functionTool,
  imageDetail,
  named,
  onlyTexts,
  openAiOutput,
  openAiToolChoice,
  partsReader,
  placedText,
  refusalPart,
  TurnCollector,
  textPart,
  toolCallPart,
  toolResultPart,
} from '#gateway/protocols/parsed-parts.ts';
import {
  effortNamed,
  listAt,
  listOr,
  orUnsupported,
  refuse,
  shown,
  textAt,
  textOr,
} from '#gateway/protocols/parsing.ts';
import type { ParsedRequest } from '#gateway/protocols/protocol.ts';
import { signatureIn } from '#gateway/protocols/signature-text.ts';
import { ToolNames } from '#gateway/protocols/tool-names.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { noBackground } from './responses-body.ts';
import type { ResponsesRequest } from './responses-request.ts';

/** Schemas are moved as JSON text. */
const keptTexts = [
  ['tools', '*', 'parameters'],
  ['text', 'format', 'schema'],
];

/** Arguments of tools are JSON, or become a part of it. A thought may be in the state that its provider needs back. */
const jsonInTexts = [
  ['input', '*', 'arguments'],
  ['input', '*', 'input'],
  ['input', '*', 'summary', '*', 'text'],
];

/** The members that are parsed, and those that the gateway itself answers. */
const requestMembers = [
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'stream',
  'stream_options',
  'store',
  'previous_response_id',
  'metadata',
] as const;

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
  return orUnsupported(() => parsedOf(body.right, withItems(body.right, items)));
}

function withItems({ input }: JsonObject, items: ReadonlyArray<JsonObject>): Json | undefined {
  if (items.length === 0) return input;
  const own = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : listOr(input);
  return [...items, ...own];
}

/** @param input with the items before it */
function parsedOf(body: JsonObject, input: Json | undefined): ParsedRequest {
  if (body.background === true) refuse(noBackground.pointer, noBackground.message);
  const leftOut = new LeftOut();
  const asked = leftOut.read(body, '', requestMembers);
  leftOut.read(leftOut.objectAt(asked.stream_options, '/stream_options'), '/stream_options', []);
  const names = new ToolNames();
  const tools = listAt(asked.tools, '/tools')
    .flatMap((tool, index) => toolOf(tool, `/tools/${index}`, leftOut))
    .map((tool) => named(tool, names));
  const { system, turns } = conversationOf(input, names, leftOut);
  const conversation: Conversation = {
    system: [...instructionsIn(asked.instructions), ...system],
    turns,
    ...openAiToolChoice(asked.tool_choice, tools, choiceForm(names), leftOut),
    allowsParallelCalls: leftOut.flagAt(asked.parallel_tool_calls, '/parallel_tool_calls') ?? true,
    maxTokens: leftOut.numberAt(asked.max_output_tokens, '/max_output_tokens')?.value ?? null,
    temperature: leftOut.numberAt(asked.temperature, '/temperature'),
    topP: leftOut.numberAt(asked.top_p, '/top_p'),
    topK: null,
    stopSequences: [],
    output: outputOf(asked.text, leftOut),
    reasoning: reasoningOf(asked.reasoning, leftOut),
    isStreamed: asked.stream === true,
    ...promptControl(body, leftOut),
  };
  return { conversation, ignored: leftOut.pointers };
}

function instructionsIn(instructions: Json | undefined): ReadonlyArray<TextPart> {
  const text = textAt(instructions, '/instructions');
  return text === null || text === '' ? [] : [{ kind: 'text', text, pointer: '/instructions' }];
}

function reasoningOf(reasoning: Json | undefined, leftOut: LeftOut): Conversation['reasoning'] {
  const { effort: said } = leftOut.read(leftOut.objectAt(reasoning, '/reasoning'), '/reasoning', ['effort']);
  const pointer = '/reasoning/effort';
  const effort = leftOut.textAt(said, pointer);
  return effort === null ? null : { effort: effortNamed(effort), budgetTokens: null, pointer };
}

function outputOf(text: Json | undefined, leftOut: LeftOut): OutputForm | null {
  const { format } = leftOut.read(leftOut.objectAt(text, '/text'), '/text', ['format']);
  return openAiOutput(format, '/text/format', null, leftOut);
}

const toolForm = 'a tool of Responses is {"type": "function", "name": …, "description": …, "parameters": …}';

function toolOf(tool: Json, pointer: string, leftOut: LeftOut): ReadonlyArray<Tool> {
  if (!isObject(tool) || isForeignTool(tool)) return refuse(pointer, toolForm);
  if (tool.type === 'function') return [functionTool(tool, 'parameters', pointer, leftOut)];
  if (tool.type === 'custom') return [freeTextTool(tool, pointer, leftOut)];
  // A tool of another type runs at OpenAI.
  leftOut.add(pointer);
  return [];
}

/** Whether a tool is declared as in chat completions or Messages: without this, its name and schema would be lost. */
function isForeignTool({ type, function: inside, custom }: JsonObject): boolean {
  if (typeof type !== 'string') return true;
  return (type === 'function' && isObject(inside)) || (type === 'custom' && isObject(custom));
}

/** OpenAI's reference: https://platform.openai.com/docs/api-reference/responses/create#responses-create-tool_choice. */
function choiceForm(names: ToolNames): ChoiceForm {
  return {
    allowed: (choice) => [choice, '/tool_choice'],
    nameIn: (object, pointer, leftOut) => {
      const { name } = leftOut.read(object, pointer, ['type', 'name']);
      return typeof name === 'string' ? calledName(name, `${pointer}/name`, names) : null;
    },
  };
}

function conversationOf(
  input: Json | undefined,
  names: ToolNames,
  leftOut: LeftOut,
): Pick<Conversation, 'system' | 'turns'> {
  const turns = new TurnCollector();
  if (typeof input === 'string') turns.add({ role: 'user', parts: [{ kind: 'text', text: input, pointer: '/input' }] });
  for (const [index, item] of listOr(input).entries())
    if (isObject(item)) turns.add(turnOf(item, `/input/${index}`, names, leftOut));
  return turns.collected;
}

function turnOf(item: JsonObject, pointer: string, names: ToolNames, leftOut: LeftOut): Turn {
  switch (item.type ?? 'message') {
    case 'message':
      return messageTurn(item, pointer, leftOut);
    case 'function_call':
      return callTurn(functionCallPart(item, pointer, names, leftOut), item, pointer, leftOut);
    case 'custom_tool_call':
      return callTurn(customCallPart(item, pointer, names, leftOut), item, pointer, leftOut);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [resultPart(item, pointer, leftOut)] };
    case 'reasoning':
      return { role: 'assistant', parts: [reasoningPart(item, pointer, leftOut)] };
    default:
      return refuse(pointer, `an item of the type ${shown(item.type)} cannot be expressed for this target`);
  }
}

function callTurn(call: ToolCallPart, item: JsonObject, pointer: string, leftOut: LeftOut): Turn {
  return { role: 'assistant', parts: [withCacheControl(call, item, pointer, leftOut)] };
}

/** What says which item it is, for the gateway alone. */
const itemMembers = ['type', 'id'] as const;

function messageTurn(item: JsonObject, pointer: string, leftOut: LeftOut): Turn {
  const { role, content } = leftOut.read(item, pointer, [...itemMembers, 'role', 'content']);
  const parts = withMessageControl(partsOf(content, `${pointer}/content`, leftOut), item, pointer, leftOut);
  if (role === 'user') return { role, parts };
  if (role === 'assistant') return { role, parts: onlyTexts(parts) };
  if (role === 'system' || role === 'developer') return { role: 'system', parts };
  return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
}

function functionCallPart(item: JsonObject, pointer: string, names: ToolNames, leftOut: LeftOut): ToolCallPart {
  const read = leftOut.read(item, pointer, [...itemMembers, 'call_id', 'name', 'arguments']);
  return callPart(read, textAt(read.arguments, `${pointer}/arguments`), pointer, names);
}

function customCallPart(item: JsonObject, pointer: string, names: ToolNames, leftOut: LeftOut): ToolCallPart {
  const read = leftOut.read(item, pointer, [...itemMembers, 'call_id', 'name', 'input']);
  return callPart(read, freeTextArguments(textAt(read.input, `${pointer}/input`) ?? ''), pointer, names);
}

type NamedCall = Readonly<Record<'call_id' | 'name', Json | undefined>>;

function callPart(
  { call_id: id, name: said }: NamedCall,
  given: string | null,
  pointer: string,
  names: ToolNames,
): ToolCallPart {
  const name = calledName(said, `${pointer}/name`, names);
  return toolCallPart({ id: textAt(id, `${pointer}/call_id`), name, given }, pointer);
}

function resultPart(item: JsonObject, pointer: string, leftOut: LeftOut): ToolResultPart {
  const { call_id: id, output } = leftOut.read(item, pointer, [...itemMembers, 'call_id', 'output']);
  const parts = partsOf(output, `${pointer}/output`, leftOut);
  return withCacheControl(toolResultPart(textAt(id, `${pointer}/call_id`), parts, pointer), item, pointer, leftOut);
}

/** The opaque part of a provider's own is none that another protocol reads. */
function reasoningPart(item: JsonObject, pointer: string, leftOut: LeftOut): ReasoningPart {
  const read = leftOut.read(item, pointer, [...itemMembers, 'summary', 'content', 'encrypted_content']);
  const { summary, content, encrypted_content: encrypted } = read;
  const text = [
    ...contentParts(content, `${pointer}/content`, (part, place) => textPart(part, place, leftOut)),
    ...contentParts(summary, `${pointer}/summary`, (part, place) => textPart(part, place, leftOut)),
  ]
    .flatMap((part) => part?.text ?? [])
    .join('\n\n');
  const value = textOr(encrypted);
  if (value === null || value === '') return { kind: 'reasoning', text, signature: null, pointer };
  const signature = signatureIn(value) ?? { of: foreignReasoning, value, isRedacted: text === '' };
  return { kind: 'reasoning', text, signature, pointer };
}

const partsOf = partsReader([
  ['text', textPart],
  ['input_text', textPart],
  ['output_text', textPart],
  ['refusal', refusalPart],
  ['input_image', imagePart],
  ['input_file', inlineFile],
]);

function imagePart(part: JsonObject, pointer: string, leftOut: LeftOut): ImagePart | null {
  const { image_url: url, detail } = leftOut.read(part, pointer, ['type', 'image_url', 'detail']);
  if (typeof url !== 'string') return null;
  return { kind: 'image', source: sourceOf(url), detail: imageDetail(detail, `${pointer}/detail`), pointer };
}

function inlineFile(part: JsonObject, pointer: string, leftOut: LeftOut): ContentPart | null {
  const read = leftOut.read(part, pointer, ['type', 'file_data', 'file_url', 'filename']);
  const { file_data: data, file_url: url, filename } = read;
  const name = placedText(filename, `${pointer}/filename`);
  if (typeof data === 'string') {
    leftOut.addValue(url, `${pointer}/file_url`);
    return filePart(fileSourceOf(data), name, pointer, leftOut);
  }
  return typeof url === 'string' ? filePart(sourceOf(url), name, pointer, leftOut) : null;
}
