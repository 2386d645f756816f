import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { keptText, parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type {
  Conversation,
  DocumentPart,
  ImagePart,
  OutputForm,
  Part,
  ReasoningPart,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { freeTextArguments, freeTextSchema } from '#gateway/protocols/free-text.ts';
import {
  effortNamed,
  joinTurns,
  listOr,
  numberOr,
  orUnsupported,
  refuse,
  saysNothing,
  shown,
  sourceOf,
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
  const { system, turns } = new MessageParser(ignored).parse(listOr(body.messages));
  const tools = listOr(body.tools).flatMap((tool, index) => toolOf(tool, `/tools/${index}`, ignored));
  const conversation: Conversation = {
    system,
    turns,
    tools,
    toolChoice: toolChoiceOf(body.tool_choice, tools),
    allowsParallelCalls: body.parallel_tool_calls !== false,
    maxTokens: numberOr(body.max_completion_tokens) ?? numberOr(body.max_tokens),
    temperature: tunedOf(body.temperature, '/temperature'),
    topP: tunedOf(body.top_p, '/top_p'),
    topK: null,
    stopSequences: typeof body.stop === 'string' ? [body.stop] : listOr(body.stop).filter(isText),
    output: outputOf(body.response_format),
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

function outputOf(format: Json | undefined): OutputForm | null {
  const pointer = '/response_format';
  if (!isObject(format) || format.type === 'text') return null;
  if (format.type === 'json_object') return { name: 'json', schema: null, pointer };
  const { json_schema: described } = format;
  if (format.type !== 'json_schema' || !isObject(described)) return refuse(pointer, 'this response_format is unknown');
  return { name: textOr(described.name) ?? 'answer', schema: keptText(described.schema), pointer };
}

/** No other protocol has a grammar for a free text. */
function customTool({ name, description, format }: JsonObject, pointer: string, ignored: Set<string>): Tool {
  if (isObject(format) && format.type !== 'text') ignored.add(`${pointer}/format`);
  return {
    name: textOr(name) ?? '',
    description: textOr(description),
    schema: freeTextSchema,
    isStrict: null,
    isFreeText: true,
    pointer,
  };
}

function toolOf(tool: Json, pointer: string, ignored: Set<string>): ReadonlyArray<Tool> {
  if (isObject(tool) && tool.type === 'function' && isObject(tool.function)) {
    const { name, description, parameters, strict } = tool.function;
    return [
      {
        name: textOr(name) ?? '',
        description: textOr(description),
        schema: keptText(parameters),
        isStrict: typeof strict === 'boolean' ? strict : null,
        isFreeText: false,
        pointer,
      },
    ];
  }
  if (isObject(tool) && tool.type === 'custom' && isObject(tool.custom))
    return [customTool(tool.custom, `${pointer}/custom`, ignored)];
  ignored.add(pointer);
  return [];
}

function toolChoiceOf(choice: Json | undefined, tools: ReadonlyArray<Tool>): ToolChoice | null {
  if (choice === undefined || choice === null) return null;
  if (choice === 'auto' || choice === 'none') return { kind: choice };
  if (choice === 'required') return { kind: 'any' };
  const named = isObject(choice) ? (choice.function ?? choice.custom) : null;
  const forced = isObject(named) ? tools.find(({ name }) => name === named.name) : undefined;
  if (forced !== undefined) return { kind: 'tool', name: forced.name };
  return refuse('/tool_choice', 'this tool_choice cannot be expressed for this target');
}

/** Parses the messages of a chat. */
class MessageParser {
  readonly #ignored: Set<string>;
  readonly #system: TextPart[] = [];
  readonly #turns: Turn[] = [];

  constructor(ignored: Set<string>) {
    this.#ignored = ignored;
  }

  parse(messages: ReadonlyArray<Json>): Pick<Conversation, 'system' | 'turns'> {
    for (const [index, message] of messages.entries()) if (isObject(message)) this.#take(message, `/messages/${index}`);
    return { system: this.#system, turns: joinTurns(this.#turns) };
  }

  #take(message: JsonObject, pointer: string): void {
    if (!saysNothing(message.name)) this.#ignored.add(`${pointer}/name`);
    switch (message.role) {
      case 'system':
      case 'developer':
        this.#takeSystem(textsOf(message.content, `${pointer}/content`));
        return;
      case 'user':
        this.#turns.push({ role: 'user', parts: partsOf(message.content, `${pointer}/content`) });
        return;
      case 'assistant':
        this.#turns.push({ role: 'assistant', parts: assistantParts(message, pointer) });
        return;
      case 'tool':
        this.#turns.push({ role: 'user', parts: [resultOf(message, pointer)] });
        return;
      default:
        refuse(`${pointer}/role`, `the role ${shown(message.role)} cannot be expressed for this target`);
    }
  }

  /** What the system says later stays in its place. */
  #takeSystem(texts: ReadonlyArray<TextPart>): void {
    if (this.#turns.length === 0) this.#system.push(...texts);
    else this.#turns.push({ role: 'system', parts: texts });
  }
}

function resultOf({ tool_call_id: callId, content }: JsonObject, pointer: string): Part {
  return {
    kind: 'tool-result',
    callId: textOr(callId) ?? '',
    isError: false,
    parts: textsOf(content, `${pointer}/content`),
    pointer,
  };
}

function textsOf(content: Json | undefined, pointer: string): ReadonlyArray<TextPart> {
  return partsOf(content, pointer).map((part) => {
    if (part.kind !== 'text') refuse(part.pointer, 'only texts can be here');
    return part;
  });
}

function partsOf(content: Json | undefined, pointer: string): ReadonlyArray<TextPart | ImagePart | DocumentPart> {
  if (typeof content === 'string') return [{ kind: 'text', text: content, pointer }];
  return listOr(content).map((part, index) => partOf(part, `${pointer}/${index}`));
}

function partOf(part: Json, pointer: string): TextPart | ImagePart | DocumentPart {
  if (!isObject(part)) return refuse(pointer, 'is not a part of a content');
  const { type, text, image_url: image, file } = part;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text, pointer };
  if (type === 'image_url') {
    const url = isObject(image) ? textOr(image.url) : textOr(image);
    if (url !== null) return { kind: 'image', source: sourceOf(url), pointer };
  }
  if (type === 'file' && isObject(file) && typeof file.file_data === 'string') {
    const source = sourceOf(file.file_data);
    if (source.kind === 'base64' && source.mediaType.startsWith('image/')) return { kind: 'image', source, pointer };
    return { kind: 'document', source, name: textOr(file.filename), pointer };
  }
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
    return {
      kind: 'tool-call',
      id: textOr(call.id) ?? '',
      name: textOr(name) ?? '',
      arguments: textOr(given) ?? '',
      pointer,
    };
  }
  if (isObject(call) && isObject(call.custom)) {
    const { name, input } = call.custom;
    const given = freeTextArguments(textOr(input) ?? '');
    return { kind: 'tool-call', id: textOr(call.id) ?? '', name: textOr(name) ?? '', arguments: given, pointer };
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
