import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { keptText, parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type {
  Conversation,
  OutputForm,
  Part,
  Reasoning,
  Source,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { base64Source } from '#gateway/neutral/source.ts';
import {
  type ContentPart,
  filePart,
  forcedTool,
  functionTool,
  onlyTexts,
  toolCallPart,
  toolResultPart,
} from '#gateway/protocols/parsed-parts.ts';
import {
  joinTurns,
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
import { effortOf, protocolName } from './thinking.ts';

/** Schemas and arguments of tools are moved as JSON text. */
const keptTexts = [
  ['tools', '*', 'input_schema'],
  ['messages', '*', 'content', '*', 'input'],
  ['output_config', 'format', 'schema'],
  ['output_format', 'schema'],
];

const known = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
]);

/**
 * Parses a request of Messages to the neutral form.
 * @param maxValues the most values in it
 * @param longTexts takes the long texts out; missing if they are to stay
 */
export async function parseMessages(
  bytes: Buffer,
  maxValues: number,
  longTexts?: LongTexts,
): Promise<E.Either<Unsupported | Failure, ParsedRequest>> {
  const body = await parseKeepingText(bytes, keptTexts, { maxValues, longTexts });
  if (E.isLeft(body)) return body;
  return orUnsupported(() => new RequestParser().parse(body.right));
}

class RequestParser {
  readonly #ignored = new Set<string>();

  parse(body: JsonObject): ParsedRequest {
    for (const [name, value] of Object.entries(body))
      if (!known.has(name) && !saysNothing(value)) this.#ignored.add(pointerTo([name]));
    const tools = listOr(body.tools).flatMap((tool, index) => this.#tool(tool, `/tools/${index}`));
    const conversation: Conversation = {
      system: this.#texts(body.system, '/system'),
      turns: joinTurns(listOr(body.messages).flatMap((message, index) => this.#turn(message, `/messages/${index}`))),
      tools,
      toolChoice: toolChoiceOf(body.tool_choice, tools),
      allowsParallelCalls: !(isObject(body.tool_choice) && body.tool_choice.disable_parallel_tool_use === true),
      maxTokens: numberOr(body.max_tokens),
      temperature: tunedOf(body.temperature, '/temperature'),
      topP: tunedOf(body.top_p, '/top_p'),
      topK: tunedOf(body.top_k, '/top_k'),
      stopSequences: listOr(body.stop_sequences).filter((each) => typeof each === 'string'),
      output: outputOf(body),
      reasoning: reasoningOf(body),
      isStreamed: body.stream === true,
    };
    return { conversation, ignored: [...this.#ignored] };
  }

  #turn(message: Json, pointer: string): ReadonlyArray<Turn> {
    if (!isObject(message)) return [];
    const { role, content } = message;
    if (role === 'system') return [{ role, parts: this.#texts(content, `${pointer}/content`) }];
    if (role !== 'user' && role !== 'assistant')
      return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
    return [{ role, parts: this.#blocks(content, `${pointer}/content`).map((at) => this.#part(...at)) }];
  }

  /** The blocks of a content with their places; a text is one block. */
  #blocks(content: Json | undefined, pointer: string): ReadonlyArray<readonly [JsonObject, string]> {
    if (typeof content === 'string') return [[{ type: 'text', text: content }, pointer]];
    return listOr(content).map((block, index) => {
      const place = `${pointer}/${index}`;
      if (!isObject(block)) return refuse(place, 'is not a block of a content');
      this.#leaveOut(block, place);
      return [block, place] as const;
    });
  }

  /** What only tunes a block. */
  #leaveOut(block: JsonObject, pointer: string): void {
    for (const name of ['cache_control', 'citations'])
      if (!saysNothing(block[name])) this.#ignored.add(`${pointer}/${name}`);
  }

  #part(block: JsonObject, pointer: string): Part {
    switch (block.type) {
      case 'tool_use':
        return toolCallPart({ id: block.id, name: block.name }, keptText(block.input) ?? '{}', pointer);
      case 'tool_result':
        return this.#result(block, pointer);
      case 'thinking':
        return {
          kind: 'reasoning',
          text: textOr(block.thinking) ?? '',
          signature: signatureOf(textOr(block.signature), false),
          pointer,
        };
      case 'redacted_thinking':
        return { kind: 'reasoning', text: '', signature: signatureOf(textOr(block.data), true), pointer };
      default:
        return contentPart(block, pointer);
    }
  }

  #result(block: JsonObject, pointer: string): ToolResultPart {
    const parts = this.#blocks(block.content, `${pointer}/content`).map((at) => contentPart(...at));
    return { ...toolResultPart(block.tool_use_id, parts, pointer), isError: block.is_error === true };
  }

  #texts(content: Json | undefined, pointer: string): ReadonlyArray<TextPart> {
    return onlyTexts(this.#blocks(content, pointer).map((at) => contentPart(...at)));
  }

  #tool(tool: Json, pointer: string): ReadonlyArray<Tool> {
    // A tool of another type runs at Anthropic.
    if (!isObject(tool) || (tool.type !== undefined && tool.type !== 'custom' && tool.type !== null)) {
      this.#ignored.add(pointer);
      return [];
    }
    this.#leaveOut(tool, pointer);
    return [functionTool(tool, tool.input_schema, pointer)];
  }
}

function signatureOf(
  value: string | null,
  isRedacted: boolean,
): { of: string; value: string; isRedacted: boolean } | null {
  return value === null || value === '' ? null : { of: protocolName, value, isRedacted };
}

function contentPart(block: JsonObject, pointer: string): ContentPart {
  const { type, text, source, title } = block;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text, pointer };
  if (type === 'image' && isObject(source)) {
    const read = sourceIn(source);
    if (read !== null) return { kind: 'image', source: read, pointer };
  }
  if (type === 'document' && isObject(source)) {
    const name = textOr(title);
    if (source.type === 'text' && typeof source.data === 'string')
      return { kind: 'document', source: { kind: 'text', text: source.data }, name, pointer };
    const read = sourceIn(source);
    if (read !== null) return filePart(read, name, pointer);
  }
  return refuse(pointer, `a block of the type ${shown(type)} cannot be expressed for this target`);
}

function sourceIn({ type, media_type: mediaType, data, url }: JsonObject): Source | null {
  if (type === 'url' && typeof url === 'string') return { kind: 'url', url };
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string') return null;
  return base64Source(mediaType, data);
}

function toolChoiceOf(choice: Json | undefined, tools: ReadonlyArray<Tool>): ToolChoice | null {
  if (!isObject(choice)) return null;
  const { type, name } = choice;
  if (type === 'auto' || type === 'any' || type === 'none') return { kind: type };
  return forcedTool(type === 'tool' ? name : undefined, tools);
}

function outputOf({ output_config: config, output_format: old }: JsonObject): OutputForm | null {
  const format = isObject(config) && isObject(config.format) ? config.format : old;
  if (!isObject(format)) return null;
  const pointer = format === old ? '/output_format' : '/output_config/format';
  if (format.type !== 'json_schema')
    return refuse(pointer, 'this form of an answer cannot be expressed for this target');
  return { name: 'answer', schema: keptText(format.schema), pointer };
}

function reasoningOf({ thinking, output_config: config }: JsonObject): Reasoning | null {
  const effort = isObject(config) && typeof config.effort === 'string' ? config.effort : null;
  if (!isObject(thinking) || thinking.type === 'disabled')
    return effort === null ? null : { effort: effortOf(effort), budgetTokens: null, pointer: '/output_config/effort' };
  const pointer = '/thinking';
  const budgetTokens = numberOr(thinking.budget_tokens);
  return { effort: effortOf(effort ?? budgetTokens ?? 'medium'), budgetTokens, pointer };
}
