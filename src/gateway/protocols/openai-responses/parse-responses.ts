import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type {
  Conversation,
  OutputForm,
  Part,
  ReasoningPart,
  TextPart,
  Tool,
  ToolChoice,
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

/** The members that are parsed, and those that the gateway itself answers. */
const known = new Set([
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
  'store',
  'previous_response_id',
  'metadata',
  'background',
]);

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
  const ignored = new Set<string>();
  for (const [name, value] of Object.entries(body))
    if (!known.has(name) && !saysNothing(value) && !isDefault(name, value)) ignored.add(pointerTo([name]));
  const tools = listOr(body.tools).flatMap((tool, index) => toolOf(tool, `/tools/${index}`, ignored));
  const { system, turns } = conversationOf(body.input, ignored);
  const conversation: Conversation = {
    system: [...instructionsIn(body), ...system],
    turns,
    tools: allowedTools(body.tool_choice, tools),
    toolChoice: toolChoiceOf(body.tool_choice, tools),
    allowsParallelCalls: body.parallel_tool_calls !== false,
    maxTokens: numberOr(body.max_output_tokens),
    temperature: tunedOf(body.temperature, '/temperature'),
    topP: tunedOf(body.top_p, '/top_p'),
    topK: null,
    stopSequences: [],
    output: outputOf(body.text, ignored),
    reasoning: reasoningOf(body.reasoning, ignored),
    isStreamed: body.stream === true,
  };
  return { conversation, ignored: [...ignored] };
}

/** What clients send although it is the default. */
function isDefault(name: string, value: Json | undefined): boolean {
  if (name === 'truncation') return value === 'disabled';
  if (name === 'service_tier') return value === 'auto' || value === 'default';
  if (name === 'include') return listOr(value).every((each) => each === 'reasoning.encrypted_content');
  return (name === 'top_logprobs' && value === 0) || value === '';
}

function instructionsIn({ instructions }: JsonObject): ReadonlyArray<TextPart> {
  const text = textOr(instructions);
  return text === null || text === '' ? [] : [{ kind: 'text', text, pointer: '/instructions' }];
}

function reasoningOf(reasoning: Json | undefined, ignored: Set<string>): Conversation['reasoning'] {
  if (!isObject(reasoning)) return null;
  for (const [name, value] of Object.entries(reasoning))
    if (name !== 'effort' && !saysNothing(value)) ignored.add(pointerTo(['reasoning', name]));
  const { effort } = reasoning;
  if (typeof effort !== 'string') return null;
  return { effort: effortNamed(effort), budgetTokens: null, pointer: '/reasoning/effort' };
}

function outputOf(text: Json | undefined, ignored: Set<string>): OutputForm | null {
  if (!isObject(text)) return null;
  if (!saysNothing(text.verbosity)) ignored.add('/text/verbosity');
  return openAiOutput(text.format, (format) => format, '/text/format');
}

function toolOf(tool: Json, pointer: string, ignored: Set<string>): ReadonlyArray<Tool> {
  if (isObject(tool) && tool.type === 'function') return [functionTool(tool, tool.parameters, pointer)];
  if (isObject(tool) && tool.type === 'custom') return [freeTextTool(tool, pointer, ignored)];
  // A tool of another type runs at OpenAI.
  ignored.add(pointer);
  return [];
}

/** The tools that a choice allows: all without one. */
function allowedTools(choice: Json | undefined, tools: ReadonlyArray<Tool>): ReadonlyArray<Tool> {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return tools;
  const names = new Set(listOr(choice.tools).map((tool) => (isObject(tool) ? tool.name : null)));
  return tools.filter(({ name }) => names.has(name));
}

function toolChoiceOf(choice: Json | undefined, tools: ReadonlyArray<Tool>): ToolChoice | null {
  if (isObject(choice) && choice.type === 'allowed_tools') return { kind: choice.mode === 'required' ? 'any' : 'auto' };
  return openAiToolChoice(choice, tools, ({ name }) => name);
}

function conversationOf(input: Json | undefined, ignored: Set<string>): Pick<Conversation, 'system' | 'turns'> {
  const turns = new TurnCollector();
  if (typeof input === 'string') turns.add({ role: 'user', parts: [{ kind: 'text', text: input, pointer: '/input' }] });
  for (const [index, item] of listOr(input).entries())
    if (isObject(item)) turns.add(turnOf(item, `/input/${index}`, ignored));
  return turns.collected;
}

function turnOf(item: JsonObject, pointer: string, ignored: Set<string>): Turn {
  switch (item.type ?? 'message') {
    case 'message':
      return messageTurn(item, pointer, ignored);
    case 'function_call':
      return assistantTurn(callPart(item, textOr(item.arguments), pointer));
    case 'custom_tool_call':
      return assistantTurn(callPart(item, freeTextArguments(textOr(item.input) ?? ''), pointer));
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [resultPart(item, pointer)] };
    case 'reasoning':
      return assistantTurn(reasoningPart(item, pointer));
    default:
      return refuse(pointer, `an item of the type ${shown(item.type)} cannot be expressed for this target`);
  }
}

function assistantTurn(part: Part): Turn {
  return { role: 'assistant', parts: [part] };
}

function messageTurn({ role, content }: JsonObject, pointer: string, ignored: Set<string>): Turn {
  const place = `${pointer}/content`;
  if (role === 'user') return { role, parts: partsOf(content, place, ignored) };
  if (role === 'assistant') return { role, parts: onlyTexts(partsOf(content, place, null)) };
  if (role === 'system' || role === 'developer') return { role: 'system', parts: partsOf(content, place, null) };
  return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
}

function callPart({ call_id: id, name }: JsonObject, given: string | null, pointer: string): Part {
  return toolCallPart({ id, name }, given, pointer);
}

function resultPart({ call_id: callId, output }: JsonObject, pointer: string): Part {
  return toolResultPart(callId, partsOf(output, `${pointer}/output`, null), pointer);
}

/** The opaque part of a provider's own is none that another protocol reads. */
function reasoningPart({ summary, content, encrypted_content: encrypted }: JsonObject, pointer: string): ReasoningPart {
  const text = [...listOr(content), ...listOr(summary)]
    .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n\n');
  const value = textOr(encrypted);
  if (value === null || value === '') return { kind: 'reasoning', text, signature: null, pointer };
  const signature = signatureIn(value) ?? { of: foreignReasoning, value, isRedacted: text === '' };
  return { kind: 'reasoning', text, signature, pointer };
}

/** @param ignored gets what only tunes a part; null where that does not matter */
function partsOf(content: Json | undefined, pointer: string, ignored: Set<string> | null): ReadonlyArray<ContentPart> {
  if (typeof content === 'string') return [{ kind: 'text', text: content, pointer }];
  return listOr(content).map((part, index) => partOf(part, `${pointer}/${index}`, ignored));
}

function partOf(part: Json, pointer: string, ignored: Set<string> | null): ContentPart {
  if (!isObject(part)) return refuse(pointer, 'is not a part of a content');
  const { type, text, refusal, image_url: image, detail, file_data: data, file_url: url, filename } = part;
  if ((type === 'input_text' || type === 'output_text' || type === 'text') && typeof text === 'string')
    return { kind: 'text', text, pointer };
  if (type === 'refusal' && typeof refusal === 'string') return { kind: 'text', text: refusal, pointer };
  if (type === 'input_image' && typeof image === 'string') {
    if (detail !== undefined && detail !== null && detail !== 'auto') ignored?.add(`${pointer}/detail`);
    return { kind: 'image', source: sourceOf(image), pointer };
  }
  const source = textOr(data) ?? textOr(url);
  if (type === 'input_file' && source !== null) return filePart(sourceOf(source), textOr(filename), pointer);
  return refuse(pointer, `a part of the type ${shown(type)} cannot be expressed for this target`);
}
