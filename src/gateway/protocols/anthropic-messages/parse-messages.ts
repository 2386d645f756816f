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
  type Signature,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolResultPart,
  type Turn,
  type Unsupported,
} from '#gateway/neutral/conversation.ts';
import { base64Source } from '#gateway/neutral/source.ts';
import { promptControl, withCacheControl } from '#gateway/protocols/cache-control.ts';
import { calledName, toolCallPart, toolResultPart } from '#gateway/protocols/call-parts.ts';
import {
  type ContentPart,
  contentParts,
  filePart,
  onlyTexts,
  type PartReader,
  textPart,
} from '#gateway/protocols/content-parts.ts';
import { functionTool, named } from '#gateway/protocols/declared-tool.ts';
import { LeftOut } from '#gateway/protocols/left-out.ts';
import {
  effortAt,
  listAt,
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
import { signatureIn } from '#gateway/protocols/signature-text.ts';
import { isStrictSchema } from '#gateway/protocols/strict-schema.ts';
import { anyTool, forcedTool } from '#gateway/protocols/tool-choice.ts';
import { ToolNames } from '#gateway/protocols/tool-names.ts';
import { schemaIn } from '#gateway/protocols/tool-schema.ts';
import { saysSomething } from '#gateway/protocols/turn-collector.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { effortOf, protocolName } from './thinking.ts';

/** Schemas and arguments of tools are moved as JSON text. */
const keptTexts = [
  ['tools', '*', 'input_schema'],
  ['messages', '*', 'content', '*', 'input'],
  ['output_config', 'format', 'schema'],
  ['output_format', 'schema'],
];

/** A thought may be part of the state that its provider needs back. */
const readTexts = [['messages', '*', 'content', '*', 'thinking']];

const requestMembers = [
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
] as const;

/** @param longTexts takes the long texts out; missing if they are to stay */
export async function parseMessages(
  bytes: Buffer,
  maxValues: number,
  longTexts?: LongTexts,
): Promise<E.Either<Unsupported | Failure, ParsedRequest>> {
  const body = await parseKeepingText(bytes, keptTexts, { maxValues, jsonInTexts: readTexts, longTexts });
  if (E.isLeft(body)) return body;
  return orUnsupported(() => new RequestParser().parse(body.right));
}

class RequestParser {
  readonly #leftOut = new LeftOut();
  readonly #names = new ToolNames();

  parse(body: JsonObject): ParsedRequest {
    const leftOut = this.#leftOut;
    const asked = leftOut.read(body, '', requestMembers);
    const tools = listAt(asked.tools, '/tools')
      .flatMap((tool, index) => this.#tool(tool, `/tools/${index}`))
      .map((tool) => named(tool, this.#names));
    const config = leftOut.objectAt(asked.output_config, '/output_config');
    const { effort, format } = leftOut.read(config, '/output_config', ['effort', 'format']);
    const conversation: Conversation = {
      system: this.#texts(asked.system, '/system'),
      turns: joinTurns(
        listAt(asked.messages, '/messages').flatMap((message, index) => this.#turn(message, `/messages/${index}`)),
      ),
      tools,
      ...this.#toolChoice(asked.tool_choice, tools),
      maxTokens: leftOut.numberAt(asked.max_tokens, '/max_tokens')?.value ?? null,
      temperature: leftOut.numberAt(asked.temperature, '/temperature'),
      topP: leftOut.numberAt(asked.top_p, '/top_p'),
      topK: leftOut.numberAt(asked.top_k, '/top_k'),
      stopSequences: stopsAt(asked.stop_sequences, '/stop_sequences'),
      output: this.#output(format, '/output_config/format') ?? this.#output(asked.output_format, '/output_format'),
      reasoning: this.#reasoning(asked.thinking, effort),
      isStreamed: asked.stream === true,
      ...promptControl(body, leftOut),
    };
    if (format !== undefined && format !== null) leftOut.addValue(asked.output_format, '/output_format');
    return { conversation, tools: this.#names.clientTools(tools), ignored: leftOut.pointers };
  }

  #turn(message: Json, pointer: string): ReadonlyArray<Turn> {
    if (!isObject(message)) return [];
    const { role, content } = this.#leftOut.read(message, pointer, ['role', 'content']);
    const place = `${pointer}/content`;
    if (role === 'system') return [{ role, parts: this.#texts(content, place) }];
    if (role !== 'user' && role !== 'assistant')
      return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
    const parts: ReadonlyArray<Part> = contentParts(content, place, (block, at) => this.#part(block, at));
    return [{ role, parts: parts.filter(saysSomething) }];
  }

  #part(block: JsonObject, pointer: string): Part {
    switch (block.type) {
      case 'tool_use':
        return withCacheControl(this.#call(block, pointer), block, pointer, this.#leftOut);
      case 'tool_result':
        return withCacheControl(this.#result(block, pointer), block, pointer, this.#leftOut);
      case 'thinking':
        return this.#thought(block, pointer);
      case 'redacted_thinking':
        return this.#hiddenThought(block, pointer);
      default:
        return this.#contentPart(block, pointer);
    }
  }

  #call(block: JsonObject, pointer: string): ToolCallPart {
    const { id, name: said, input } = this.#leftOut.read(block, pointer, ['type', 'id', 'name', 'input']);
    const given = keptText(input) ?? '{}';
    const name = calledName(said, `${pointer}/name`, this.#names);
    return toolCallPart({ id: textAt(id, `${pointer}/id`), name, given }, pointer);
  }

  #result(block: JsonObject, pointer: string): ToolResultPart {
    const read = this.#leftOut.read(block, pointer, ['type', 'tool_use_id', 'content', 'is_error']);
    const parts = contentParts(read.content, `${pointer}/content`, (each, at) => this.#resultPart(each, at));
    const isError = this.#leftOut.flagAt(read.is_error, `${pointer}/is_error`) ?? false;
    return { ...toolResultPart(textAt(read.tool_use_id, `${pointer}/tool_use_id`), parts, pointer), isError };
  }

  /**
   * The result of a tool. One that a search has found is in `tools` as well, and other protocols show all of these to
   * the model. What is left to say is which one was found
   * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool#custom-tool-search-implementation).
   */
  #resultPart(block: JsonObject, pointer: string): ContentPart {
    if (block.type !== 'tool_reference') return this.#contentPart(block, pointer);
    const { tool_name: said } = this.#leftOut.read(block, pointer, ['type', 'tool_name']);
    const name = calledName(said, `${pointer}/tool_name`, this.#names);
    return { kind: 'text', text: `Found the tool ${name}.\n`, pointer };
  }

  #thought(block: JsonObject, pointer: string): ReasoningPart {
    const { thinking, signature } = this.#leftOut.read(block, pointer, ['type', 'thinking', 'signature']);
    const text = textAt(thinking, `${pointer}/thinking`) ?? '';
    return { kind: 'reasoning', text, signature: signatureOf(textOr(signature), false), pointer };
  }

  #hiddenThought(block: JsonObject, pointer: string): ReasoningPart {
    const { data } = this.#leftOut.read(block, pointer, ['type', 'data']);
    return { kind: 'reasoning', text: '', signature: signatureOf(textOr(data), true), pointer };
  }

  #contentPart(block: JsonObject, pointer: string): ContentPart {
    const read = this.#readerOf(block.type)?.(block, pointer, this.#leftOut) ?? null;
    return read === null
      ? refuse(pointer, `a block of the type ${shown(block.type)} cannot be expressed for this target`)
      : withCacheControl(read, block, pointer, this.#leftOut);
  }

  #readerOf(type: Json | undefined): PartReader | null {
    if (type === 'text') return textPart;
    if (type === 'image') return (block, pointer) => this.#image(block, pointer);
    return type === 'document' ? (block, pointer) => this.#document(block, pointer) : null;
  }

  #image(block: JsonObject, pointer: string): ImagePart | null {
    const { source } = this.#leftOut.read(block, pointer, ['type', 'source']);
    const read = this.#source(source, `${pointer}/source`);
    return read === null || read.kind === 'text' ? null : { kind: 'image', source: read, detail: null, pointer };
  }

  #document(block: JsonObject, pointer: string): ContentPart | null {
    const { source, title } = this.#leftOut.read(block, pointer, ['type', 'source', 'title']);
    const read = this.#source(source, `${pointer}/source`);
    if (read === null) return null;
    const name = placedText(title, `${pointer}/title`);
    return read.kind === 'text'
      ? { kind: 'document', source: read, name, pointer }
      : filePart(read, name, pointer, this.#leftOut);
  }

  #source(source: Json | undefined, pointer: string): DocumentPart['source'] | null {
    const { type, media_type: mediaType, data, url } = objectOr(source);
    const own = type === 'url' ? (['url'] as const) : (['data', 'media_type'] as const);
    this.#leftOut.read(objectOr(source), pointer, ['type', ...own]);
    if (type === 'url') return typeof url === 'string' ? { kind: 'url', url } : null;
    if (typeof data !== 'string') return null;
    if (type === 'text') return { kind: 'text', text: data };
    return type === 'base64' && typeof mediaType === 'string' ? base64Source(mediaType, data) : null;
  }

  #texts(content: Json | undefined, pointer: string): ReadonlyArray<TextPart> {
    return onlyTexts(contentParts(content, pointer, (block, at) => this.#contentPart(block, at)));
  }

  #tool(tool: Json, pointer: string): ReadonlyArray<Tool> {
    if (!isObject(tool) || isForeignTool(tool)) return refuse(pointer, toolForm);
    const { type } = tool;
    if (type === undefined || type === null || type === 'custom')
      return [this.#withoutOpenStrict(functionTool(tool, 'input_schema', pointer, this.#leftOut))];
    // A tool of another type runs at Anthropic.
    this.#leftOut.add(pointer);
    return [];
  }

  #withoutOpenStrict(tool: Tool): Tool {
    if (tool.isStrict !== true || isStrictSchema(tool.schema ?? '{}')) return tool;
    this.#leftOut.add(`${tool.pointer}/strict`);
    return { ...tool, isStrict: null };
  }

  #toolChoice(
    choice: Json | undefined,
    tools: ReadonlyArray<Tool>,
  ): Pick<Conversation, 'toolChoice' | 'allowsParallelCalls'> {
    const pointer = '/tool_choice';
    if (choice === undefined || choice === null) return { toolChoice: null, allowsParallelCalls: true };
    const read = this.#leftOut.read(objectOr(choice), pointer, ['type', 'name', 'disable_parallel_tool_use']);
    const isSingle = this.#leftOut.flagAt(read.disable_parallel_tool_use, `${pointer}/disable_parallel_tool_use`);
    const toolChoice = this.#choiceOf(read.type, read.name, tools);
    return { toolChoice, allowsParallelCalls: isSingle !== true };
  }

  #choiceOf(type: Json | undefined, name: Json | undefined, tools: ReadonlyArray<Tool>): ToolChoice {
    if (type === 'auto' || type === 'none') return { kind: type };
    if (type === 'any') return anyTool(tools);
    return forcedTool(type === 'tool' ? calledName(name, '/tool_choice/name', this.#names) : null, tools);
  }

  /**
   * The form of the answer. Anthropic's answers always fit their schema, and so do OpenAI's where it takes the schema
   * as a strict one.
   */
  #output(format: Json | undefined, pointer: string): OutputForm | null {
    if (format === undefined || format === null) return null;
    const { type, schema } = this.#leftOut.read(objectOr(format), pointer, ['type', 'schema']);
    if (type !== 'json_schema') return refuse(pointer, 'this form of an answer cannot be expressed for this target');
    const text = schemaIn(schema);
    const isStrict = text !== null && isStrictSchema(text) ? true : null;
    return { name: 'answer', description: null, schema: text, isStrict, pointer };
  }

  #reasoning(thinking: Json | undefined, said: Json | undefined): Reasoning | null {
    const pointer = '/thinking';
    const effort = effortAt(said, '/output_config/effort', this.#leftOut);
    const asked = this.#leftOut.objectAt(thinking, pointer);
    const { type, budget_tokens: budget } = this.#leftOut.read(asked, pointer, ['type', 'budget_tokens']);
    if (type === undefined || type === 'disabled')
      return effort === null ? null : { effort, budgetTokens: null, pointer: '/output_config/effort' };
    const budgetTokens = this.#leftOut.numberAt(budget, `${pointer}/budget_tokens`)?.value ?? null;
    return { effort: effort ?? (budgetTokens === null ? 'medium' : effortOf(budgetTokens)), budgetTokens, pointer };
  }
}

function signatureOf(value: string | null, isRedacted: boolean): Signature | null {
  return value === null || value === '' ? null : (signatureIn(value) ?? { of: protocolName, value, isRedacted });
}

const toolForm = 'a tool of Messages is {"name": …, "description": …, "input_schema": …}';

/** True for a tool that is declared as OpenAI's are: without this, its schema would be lost. */
function isForeignTool({ type, function: inside, custom }: JsonObject): boolean {
  return type === 'function' || isObject(inside) || isObject(custom);
}
