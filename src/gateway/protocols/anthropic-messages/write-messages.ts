import type * as E from 'fp-ts/lib/Either.js';
import { JsonText, type WritableJson, writeJson } from '#gateway/framing/json-text.ts';
import {
  type Conversation,
  type DocumentPart,
  type ImagePart,
  isBlank,
  isBlankText,
  type Part,
  type Source,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
  type Turn,
  type Unsupported,
} from '#gateway/neutral/conversation.ts';
import { pairCalls } from '#gateway/neutral/paired-calls.ts';
import { callIdForMessages } from '#gateway/protocols/call-id-rules.ts';
import { withoutLastThoughts } from '#gateway/protocols/last-thoughts.ts';
import { orUnsupported, refuse } from '#gateway/protocols/parsing.ts';
import { maxTranslatedValues, type WrittenRequest } from '#gateway/protocols/protocol.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { schemaWith } from '#gateway/protocols/tool-schema.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { type Block, CachePoints } from './cache-points.ts';
import { nothing, systemTextsIn, turnsWithTexts, withoutBlankEnd, withoutBlankTexts } from './said-texts.ts';
import { samplingOf } from './sampling.ts';
import { budgetOf, protocolName } from './thinking.ts';

/** Used if neither the client nor the model's entry has a limit, because Anthropic needs one. */
const defaultMaxTokens = 4_096;

const tooManyValues = `the arguments of all calls have more than ${maxTranslatedValues} values`;

/** https://docs.anthropic.com/en/api/messages */
export function writeMessages(conversation: Conversation, model: TargetModel): E.Either<Unsupported, WrittenRequest> {
  return orUnsupported(() => new RequestWriter(conversation, model).write());
}

const anyObject = { type: 'object', properties: {} };

type Message = { readonly role: string; readonly content: ReadonlyArray<Block> };

const openingMessage: Message = { role: 'user', content: [{ type: 'text', text: nothing.text }] };

type Members = Readonly<Record<string, WritableJson | undefined>>;

class RequestWriter {
  readonly #conversation: Conversation;
  /** The turns of the user and the assistant, in turn, without blank texts next to others. */
  readonly #turns: ReadonlyArray<Turn>;
  readonly #target: TargetModel;
  readonly #ignored = new Set<string>();
  readonly #cachePoints = new CachePoints();
  /** The arguments of calls may still have this many values. */
  #valuesLeft = maxTranslatedValues;

  constructor(conversation: Conversation, target: TargetModel) {
    this.#conversation = conversation;
    this.#turns = turnsWithTexts(pairCalls(conversation.turns), this.#ignored);
    this.#target = target;
  }

  write(): WrittenRequest {
    const maxTokens = this.#conversation.maxTokens ?? this.#target.maxOutputTokens ?? defaultMaxTokens;
    const thinking = this.#thinking(maxTokens);
    const { system, messages } = this.#said();
    const { tools, choice } = this.#tools();
    const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content)];
    const cacheControl = this.#cachePoints.put(blocks, this.#conversation.cacheControl, this.#ignored);
    const body = writeJson({
      model: this.#target.model,
      max_tokens: maxTokens,
      cache_control: cacheControl?.value,
      system: system.length === 0 ? undefined : system,
      messages,
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: choice,
      ...thinking,
      ...samplingOf(this.#conversation, 'thinking' in thinking, this.#ignored),
      stop_sequences: this.#stopSequences(),
      output_config: this.#outputConfig(),
      stream: this.#conversation.isStreamed ? true : undefined,
    });
    return { body: Buffer.from(body), ignored: [...this.#ignored] };
  }

  /** What is said. Anthropic needs a message, and the user's first. What only the system says becomes the user's. */
  #said(): { readonly system: ReadonlyArray<Block>; readonly messages: ReadonlyArray<Message> } {
    const { system: first, turns } = this.#conversation;
    const texts = withoutBlankTexts([...first, ...systemTextsIn(turns)], this.#ignored);
    const system = texts.map((part) => this.#textBlock(part));
    const messages = this.#messages();
    if (messages.length === 0 && system.length > 0)
      return { system: [], messages: [{ role: 'user', content: system }] };
    const opening = messages[0]?.role === 'assistant' ? [openingMessage] : [];
    return { system, messages: [...opening, ...messages] };
  }

  /** The messages. Anthropic refuses a result of a tool after anything else in its message. */
  #messages(): ReadonlyArray<Message> {
    const messages: { readonly role: string; readonly results: Block[]; readonly others: Block[] }[] = [];
    for (const [index, { role, parts }] of this.#turns.entries()) {
      const isContinued = role === 'assistant' && index === this.#turns.length - 1;
      const said = role === 'assistant' ? withoutLastThoughts(parts, this.#ignored) : parts;
      const last = messages.at(-1);
      const message = last?.role === role ? last : { role, results: [], others: [] };
      for (const part of isContinued ? withoutBlankEnd(said) : said)
        (part.kind === 'tool-result' ? message.results : message.others).push(...this.#block(part));
      if (message !== last && message.results.length + message.others.length > 0) messages.push(message);
    }
    return messages.map(({ role, results, others }) => ({ role, content: [...results, ...others] }));
  }

  /**
   * The tools. Of those with the same name the last counts. A conversation with calls needs the tools that they call.
   */
  #tools(): { readonly tools: ReadonlyArray<Block>; readonly choice: WritableJson | undefined } {
    const { tools } = this.#conversation;
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    for (const tool of tools) if (byName.get(tool.name) !== tool) this.#ignored.add(tool.pointer);
    if (byName.size > 0)
      return { tools: Array.from(byName.values(), (tool) => this.#tool(tool)), choice: this.#toolChoice() };
    const called = new Set(
      this.#turns.flatMap(({ parts }) => parts.flatMap((p) => (p.kind === 'tool-call' ? [p.name] : []))),
    );
    if (called.size === 0) return { tools: [], choice: undefined };
    return { tools: Array.from(called, (name) => ({ name, input_schema: anyObject })), choice: { type: 'none' } };
  }

  /** The stop sequences. Anthropic refuses a blank one. */
  #stopSequences(): WritableJson | undefined {
    const { stopSequences } = this.#conversation;
    for (const { value, pointer } of stopSequences) if (isBlank(value)) this.#ignored.add(pointer);
    const stops = stopSequences.map(({ value }) => value).filter((text) => !isBlank(text));
    return stops.length === 0 ? undefined : stops;
  }

  #thinking(maxTokens: number): Members {
    const { reasoning } = this.#conversation;
    if (reasoning === null || reasoning.effort === 'none') return {};
    const { thinking } = this.#target;
    const budget =
      thinking === 'none' || !this.#mayThink() ? null : budgetOf(reasoning.effort, reasoning.budgetTokens, maxTokens);
    if (budget === null) {
      this.#ignored.add(reasoning.pointer);
      return {};
    }
    return thinking === 'adaptive'
      ? { thinking: { type: 'adaptive' } }
      : { thinking: { type: 'enabled', budget_tokens: budget } };
  }

  /**
   * True if the model may think. A forced tool excludes thinking, and so do calls of tools in this turn whose reasoning
   * is not Anthropic's.
   */
  #mayThink(): boolean {
    const { toolChoice } = this.#conversation;
    if (toolChoice?.kind === 'any' || toolChoice?.kind === 'tool') return false;
    const last = this.#turns.at(-1);
    const [before] = this.#turns.slice(-2);
    if (last?.role !== 'user' || !last.parts.some(({ kind }) => kind === 'tool-result')) return true;
    const [first] = before?.parts.filter((part) => part.kind !== 'reasoning' || isOwn(part.signature)) ?? [];
    return first?.kind === 'reasoning';
  }

  #outputConfig(): WritableJson | undefined {
    const { output, reasoning } = this.#conversation;
    if (output !== null && output.schema === null)
      return refuse(output.pointer, 'this target gives JSON of a schema, and not any JSON: send a schema');
    const effort =
      reasoning !== null && reasoning.effort !== 'none' && this.#target.thinking === 'adaptive'
        ? reasoning.effort === 'minimal'
          ? 'low'
          : reasoning.effort
        : undefined;
    if (output !== null && output.description !== null) this.#ignored.add(output.description.pointer);
    if (output === null && effort === undefined) return undefined;
    const format = output === null ? undefined : { type: 'json_schema', schema: new JsonText(output.schema ?? '{}') };
    return { format, effort };
  }

  /** Anthropic's `strict` takes other schemas than OpenAI's (https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs). */
  #tool({ name, description, schema, isStrict, pointer, cacheControl }: Tool): Block {
    if (isStrict === true) this.#ignored.add(`${pointer}/strict`);
    const written = schema === null ? anyObject : new JsonText(schemaWith(schema, ['type']));
    return this.#cachePoints.mark({ name, description: description ?? undefined, input_schema: written }, cacheControl);
  }

  #toolChoice(): WritableJson | undefined {
    const { toolChoice, allowsParallelCalls } = this.#conversation;
    if (toolChoice?.kind === 'none') return { type: 'none' };
    const disabled = allowsParallelCalls ? undefined : true;
    if (toolChoice === null) return disabled && { type: 'auto', disable_parallel_tool_use: true };
    const name = toolChoice.kind === 'tool' ? toolChoice.name : undefined;
    return { type: toolChoice.kind, name, disable_parallel_tool_use: disabled };
  }

  #block(part: Part): ReadonlyArray<Block> {
    switch (part.kind) {
      case 'tool-call':
        return [this.#call(part)];
      case 'tool-result':
        return [this.#result(part)];
      case 'reasoning': {
        const { signature, text, pointer } = part;
        if (signature === null || !isOwn(signature)) {
          this.#ignored.add(pointer);
          return [];
        }
        return [
          signature.isRedacted
            ? { type: 'redacted_thinking', data: signature.value }
            : { type: 'thinking', thinking: text, signature: signature.value },
        ];
      }
      default:
        return this.#content(part);
    }
  }

  #content(part: TextPart | ImagePart | DocumentPart): ReadonlyArray<Block> {
    if (part.kind === 'text') return isBlankText(part) ? [] : [this.#textBlock(part)];
    return [this.#cachePoints.mark(this.#fileBlock(part), part.cacheControl)];
  }

  #textBlock({ text, cacheControl }: TextPart): Block {
    return this.#cachePoints.mark({ type: 'text', text }, cacheControl);
  }

  #fileBlock(part: ImagePart | DocumentPart): Block {
    if (part.kind === 'image') {
      if (part.detail !== null) this.#ignored.add(part.detail.pointer);
      return { type: 'image', source: writtenSource(part.source) };
    }
    const { source, name } = part;
    const written =
      source.kind === 'text' ? { type: 'text', media_type: 'text/plain', data: source.text } : writtenSource(source);
    return { type: 'document', source: written, title: name?.value };
  }

  /** The block of a result. Only the whole result can be a point of the cache. */
  #result({ callId, isError, parts, cacheControl }: ToolResultPart): Block {
    const asked = [...parts.map((part) => part.cacheControl), cacheControl].filter((each) => each !== undefined);
    for (const { pointer } of asked.slice(0, -1)) this.#ignored.add(pointer);
    const content = parts.flatMap((part) => this.#content(part));
    const block = {
      type: 'tool_result',
      tool_use_id: callIdForMessages(callId),
      content: content.length === 0 ? undefined : content,
      is_error: isError ? true : undefined,
    };
    return this.#cachePoints.mark(block, asked.at(-1));
  }

  /**
   * The block of a call. Arguments are JSON inside of a text, so no scan of the request has counted their values. What
   * another provider needs back with a call does not fit.
   */
  #call({ id, name, arguments: given, state, pointer, cacheControl }: ToolCallPart): Block {
    if (state !== null) this.#ignored.add(pointer);
    const text = isBlank(given) ? '{}' : given;
    const scanner = new JsonScanner(Buffer.from(text), { maxValues: this.#valuesLeft });
    while (!scanner.advance());
    this.#valuesLeft -= scanner.values;
    if (scanner.fault?.kind === 'too-many-values') return refuse(pointer, tooManyValues);
    if (scanner.fault !== null || !scanner.isObject)
      return refuse(pointer, 'the arguments of this call are not a JSON object');
    const block = { type: 'tool_use', id: callIdForMessages(id), name, input: new JsonText(text) };
    return this.#cachePoints.mark(block, cacheControl);
  }
}

function isOwn(signature: { readonly of: string } | null): boolean {
  return signature?.of === protocolName;
}

function writtenSource(source: Source): WritableJson {
  return source.kind === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.data };
}
