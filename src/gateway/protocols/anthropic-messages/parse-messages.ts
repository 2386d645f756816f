import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { keptText, parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import {
  type Conversation,
  type DocumentPart,
  type ImagePart,
  joinTurns,
  type OutputForm,
  type Part,
  type Reasoning,
  type ReasoningPart,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolResultPart,
  type Turn,
  type Unsupported,
} from '#gateway/neutral/conversation.ts';
import { base64Source } from '#gateway/neutral/source.ts';
import { LeftOut } from '#gateway/protocols/left-out.ts';
import {
  anyTool,
  type ContentPart,
  contentParts,
  filePart,
  forcedTool,
  functionTool,
  onlyTexts,
  placedText,
  textPart,
  toolCallPart,
  toolResultPart,
} from '#gateway/protocols/parsed-parts.ts';
import { listAt, objectOr, orUnsupported, refuse, shown, stopsAt, textAt, textOr } from '#gateway/protocols/parsing.ts';
import type { ParsedRequest } from '#gateway/protocols/protocol.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { effortOf, protocolName } from './thinking.ts';

/** Schemas and arguments of tools are moved as JSON text. */
const keptTexts = [
  ['tools', '*', 'input_schema'],
  ['messages', '*', 'content', '*', 'input'],
  ['output_config', 'format', 'schema'],
  ['output_format', 'schema'],
];

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
  readonly #leftOut = new LeftOut();

  parse(body: JsonObject): ParsedRequest {
    const { model, messages, system, tools: declared, tool_choice: choice, stream, ...asked } = body;
    const { thinking, output_config: config, output_format: oldFormat, ...tuning } = asked;
    const { max_tokens: maxTokens, stop_sequences: stops, temperature, top_p: topP, top_k: topK, ...others } = tuning;
    this.#leftOut.addMembers(others, '');
    const tools = listAt(declared, '/tools').flatMap((tool, index) => this.#tool(tool, `/tools/${index}`));
    const { effort, format, ...rest } = this.#leftOut.objectAt(config, '/output_config');
    this.#leftOut.addMembers(rest, '/output_config');
    const conversation: Conversation = {
      system: this.#texts(system, '/system'),
      turns: joinTurns(
        listAt(messages, '/messages').flatMap((message, index) => this.#turn(message, `/messages/${index}`)),
      ),
      tools,
      toolChoice: this.#toolChoice(choice, tools),
      allowsParallelCalls: objectOr(choice).disable_parallel_tool_use !== true,
      maxTokens: this.#leftOut.numberAt(maxTokens, '/max_tokens')?.value ?? null,
      temperature: this.#leftOut.numberAt(temperature, '/temperature'),
      topP: this.#leftOut.numberAt(topP, '/top_p'),
      topK: this.#leftOut.numberAt(topK, '/top_k'),
      stopSequences: stopsAt(stops, '/stop_sequences'),
      output: this.#output(format, '/output_config/format') ?? this.#output(oldFormat, '/output_format'),
      reasoning: this.#reasoning(thinking, this.#leftOut.textAt(effort, '/output_config/effort')),
      isStreamed: stream === true,
    };
    return { conversation, ignored: this.#leftOut.pointers };
  }

  #turn(message: Json, pointer: string): ReadonlyArray<Turn> {
    if (!isObject(message)) return [];
    const { role, content, ...others } = message;
    const place = `${pointer}/content`;
    this.#leftOut.addMembers(others, pointer);
    if (role === 'system') return [{ role, parts: this.#texts(content, place) }];
    if (role !== 'user' && role !== 'assistant')
      return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
    return [{ role, parts: contentParts(content, place, (block, at) => this.#part(block, at)) }];
  }

  #part(block: JsonObject, pointer: string): Part {
    switch (block.type) {
      case 'tool_use':
        return this.#call(block, pointer);
      case 'tool_result':
        return this.#result(block, pointer);
      case 'thinking':
      case 'redacted_thinking':
        return this.#thought(block, pointer);
      default:
        return this.#contentPart(block, pointer);
    }
  }

  #call({ type, id, name, input, ...others }: JsonObject, pointer: string): ToolCallPart {
    this.#leftOut.addMembers(others, pointer);
    const given = keptText(input) ?? '{}';
    return toolCallPart({ id: textAt(id, `${pointer}/id`), name: textAt(name, `${pointer}/name`), given }, pointer);
  }

  #result({ type, tool_use_id: id, content, is_error, ...others }: JsonObject, pointer: string): ToolResultPart {
    this.#leftOut.addMembers(others, pointer);
    const parts = contentParts(content, `${pointer}/content`, (block, at) => this.#contentPart(block, at));
    return { ...toolResultPart(textAt(id, `${pointer}/tool_use_id`), parts, pointer), isError: is_error === true };
  }

  #thought({ type, thinking, signature, data, ...others }: JsonObject, pointer: string): ReasoningPart {
    this.#leftOut.addMembers(others, pointer);
    const isRedacted = type === 'redacted_thinking';
    const value = textOr(isRedacted ? data : signature);
    const text = isRedacted ? '' : (textAt(thinking, `${pointer}/thinking`) ?? '');
    const own = value === null || value === '' ? null : { of: protocolName, value, isRedacted };
    return { kind: 'reasoning', text, signature: own, pointer };
  }

  #contentPart({ type, ...members }: JsonObject, pointer: string): ContentPart {
    const read =
      type === 'text'
        ? textPart(members, pointer, this.#leftOut)
        : type === 'image'
          ? this.#image(members, pointer)
          : type === 'document'
            ? this.#document(members, pointer)
            : null;
    return read ?? refuse(pointer, `a block of the type ${shown(type)} cannot be expressed for this target`);
  }

  #image({ source, ...others }: JsonObject, pointer: string): ImagePart | null {
    const read = this.#source(source, `${pointer}/source`);
    if (read === null || read.kind === 'text') return null;
    this.#leftOut.addMembers(others, pointer);
    return { kind: 'image', source: read, detail: null, pointer };
  }

  #document({ source, title, ...others }: JsonObject, pointer: string): ContentPart | null {
    const read = this.#source(source, `${pointer}/source`);
    if (read === null) return null;
    this.#leftOut.addMembers(others, pointer);
    const name = placedText(title, `${pointer}/title`);
    return read.kind === 'text'
      ? { kind: 'document', source: read, name, pointer }
      : filePart(read, name, pointer, this.#leftOut);
  }

  #source(source: Json | undefined, pointer: string): DocumentPart['source'] | null {
    const { type, media_type: mediaType, data, url, ...others } = objectOr(source);
    this.#leftOut.addMembers(others, pointer);
    if (type === 'url' && typeof url === 'string') return { kind: 'url', url };
    if (typeof data !== 'string') return null;
    if (type === 'text') return { kind: 'text', text: data };
    return type === 'base64' && typeof mediaType === 'string' ? base64Source(mediaType, data) : null;
  }

  #texts(content: Json | undefined, pointer: string): ReadonlyArray<TextPart> {
    return onlyTexts(contentParts(content, pointer, (block, at) => this.#contentPart(block, at)));
  }

  #tool(tool: Json, pointer: string): ReadonlyArray<Tool> {
    if (!isObject(tool) || isForeignTool(tool)) return refuse(pointer, toolForm);
    const { type, input_schema: schema, ...declared } = tool;
    if (type === undefined || type === null || type === 'custom')
      return [functionTool(declared, schema, pointer, this.#leftOut)];
    // A tool of another type runs at Anthropic.
    this.#leftOut.add(pointer);
    return [];
  }

  #toolChoice(choice: Json | undefined, tools: ReadonlyArray<Tool>): ToolChoice | null {
    if (choice === undefined || choice === null) return null;
    const { type, name, disable_parallel_tool_use, ...others } = objectOr(choice);
    this.#leftOut.addMembers(others, '/tool_choice');
    if (type === 'auto' || type === 'none') return { kind: type };
    return type === 'any' ? anyTool(tools) : forcedTool(type === 'tool' ? name : undefined, tools);
  }

  /** Anthropic's answers always fit their schema. */
  #output(format: Json | undefined, pointer: string): OutputForm | null {
    if (format === undefined || format === null) return null;
    const { type, schema, ...others } = objectOr(format);
    if (type !== 'json_schema') return refuse(pointer, 'this form of an answer cannot be expressed for this target');
    this.#leftOut.addMembers(others, pointer);
    return { name: 'answer', description: null, schema: keptText(schema), isStrict: true, pointer };
  }

  #reasoning(thinking: Json | undefined, effort: string | null): Reasoning | null {
    const pointer = '/thinking';
    const { type, budget_tokens: asked, ...others } = this.#leftOut.objectAt(thinking, pointer);
    this.#leftOut.addMembers(others, pointer);
    if (type === undefined || type === 'disabled')
      return effort === null
        ? null
        : { effort: effortOf(effort), budgetTokens: null, pointer: '/output_config/effort' };
    const budgetTokens = this.#leftOut.numberAt(asked, `${pointer}/budget_tokens`)?.value ?? null;
    return { effort: effortOf(effort ?? budgetTokens ?? 'medium'), budgetTokens, pointer };
  }
}

const toolForm = 'a tool of Messages is {"name": …, "description": …, "input_schema": …}';

/** Whether a tool is declared as OpenAI's are: without this, its schema would be lost. */
function isForeignTool({ type, function: inside, custom, parameters }: JsonObject): boolean {
  return type === 'function' || isObject(inside) || isObject(custom) || isObject(parameters);
}
