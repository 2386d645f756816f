import { hash } from 'node:crypto';
import type * as E from 'fp-ts/lib/Either.js';
import { JsonText, type WritableJson, writeJson } from '#gateway/framing/json-text.ts';
import type {
  Conversation,
  DocumentPart,
  ImagePart,
  Part,
  Source,
  TextPart,
  Tool,
  ToolCallPart,
  ToolResultPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { orUnsupported, refuse } from '#gateway/protocols/parsing.ts';
import { maxTranslatedValues, type TargetModel, type WrittenRequest } from '#gateway/protocols/protocol.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { budgetOf, protocolName } from './thinking.ts';

/** Used if neither the client nor the model's entry has a limit, because Anthropic needs one. */
const defaultMaxTokens = 4_096;

const tooManyValues = `the arguments of all calls have more than ${maxTranslatedValues} values`;

/** Writes a request of Messages (https://docs.anthropic.com/en/api/messages). */
export function writeMessages(conversation: Conversation, model: TargetModel): E.Either<Unsupported, WrittenRequest> {
  return orUnsupported(() => new RequestWriter(conversation, model).write());
}

type Members = Readonly<Record<string, WritableJson | undefined>>;

class RequestWriter {
  readonly #conversation: Conversation;
  readonly #target: TargetModel;
  readonly #ignored = new Set<string>();
  /** How many values the arguments of calls may still have. */
  #valuesLeft = maxTranslatedValues;

  constructor(conversation: Conversation, target: TargetModel) {
    this.#conversation = conversation;
    this.#target = target;
  }

  write(): WrittenRequest {
    const { system, turns, tools, stopSequences, topP, isStreamed } = this.#conversation;
    const maxTokens = this.#conversation.maxTokens ?? this.#target.maxOutputTokens ?? defaultMaxTokens;
    const thinking = this.#thinking(maxTokens);
    const systemTexts = [...system, ...systemTextsIn(turns)];
    const body = writeJson({
      model: this.#target.model,
      max_tokens: maxTokens,
      system: systemTexts.length === 0 ? undefined : systemTexts.filter(hasText).map(textBlock),
      messages: turns.filter(({ role }) => role !== 'system').flatMap((turn) => this.#message(turn)),
      tools: tools.length === 0 ? undefined : tools.map((tool) => this.#tool(tool)),
      tool_choice: tools.length === 0 ? undefined : this.#toolChoice(),
      ...thinking,
      ...this.#sampling('thinking' in thinking),
      top_p: topP?.value,
      stop_sequences: stopSequences.length === 0 ? undefined : stopSequences,
      output_config: this.#outputConfig(),
      stream: isStreamed ? true : undefined,
    });
    return { body: Buffer.from(body), ignored: [...this.#ignored] };
  }

  /** Temperature goes up to 1 here, and a model that thinks takes neither of these. */
  #sampling(thinks: boolean): Members {
    const { temperature, topK } = this.#conversation;
    if (thinks) {
      if (temperature !== null) this.#ignored.add(temperature.pointer);
      if (topK !== null) this.#ignored.add(topK.pointer);
      return {};
    }
    if (temperature !== null && temperature.value > 1) this.#ignored.add(temperature.pointer);
    return { temperature: temperature === null ? undefined : Math.min(1, temperature.value), top_k: topK?.value };
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

  /** A forced tool excludes thinking, and so do calls of tools in this turn whose reasoning is not Anthropic's. */
  #mayThink(): boolean {
    const { toolChoice, turns } = this.#conversation;
    if (toolChoice?.kind === 'any' || toolChoice?.kind === 'tool') return false;
    const last = turns.at(-1);
    const [before] = turns.slice(-2);
    if (last?.role !== 'user' || !last.parts.some(({ kind }) => kind === 'tool-result')) return true;
    return before?.parts.some((part) => part.kind === 'reasoning' && isOwn(part.signature)) === true;
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
  #tool({ name, description, schema, isStrict, pointer }: Tool): WritableJson {
    if (isStrict === true) this.#ignored.add(`${pointer}/strict`);
    return {
      name,
      description: description ?? undefined,
      input_schema: schema === null ? { type: 'object', properties: {} } : new JsonText(schema),
    };
  }

  #toolChoice(): WritableJson | undefined {
    const { toolChoice, allowsParallelCalls } = this.#conversation;
    if (toolChoice?.kind === 'none') return { type: 'none' };
    const disabled = allowsParallelCalls ? undefined : true;
    if (toolChoice === null) return disabled && { type: 'auto', disable_parallel_tool_use: true };
    const name = toolChoice.kind === 'tool' ? toolChoice.name : undefined;
    return { type: toolChoice.kind, name, disable_parallel_tool_use: disabled };
  }

  #message({ role, parts }: Turn): ReadonlyArray<WritableJson> {
    const content = parts.flatMap((part) => this.#block(part));
    return content.length === 0 ? [] : [{ role, content }];
  }

  #block(part: Part): ReadonlyArray<WritableJson> {
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

  #content(part: TextPart | ImagePart | DocumentPart): ReadonlyArray<WritableJson> {
    if (part.kind === 'text') return hasText(part) ? [textBlock(part)] : [];
    if (part.kind === 'image') {
      if (part.detail !== null) this.#ignored.add(part.detail.pointer);
      return [{ type: 'image', source: sourceOf(part.source) }];
    }
    const { source, name } = part;
    const written =
      source.kind === 'text' ? { type: 'text', media_type: 'text/plain', data: source.text } : sourceOf(source);
    return [{ type: 'document', source: written, title: name?.value }];
  }

  #result({ callId, isError, parts }: ToolResultPart): WritableJson {
    const content = parts.flatMap((part) => this.#content(part));
    return {
      type: 'tool_result',
      tool_use_id: callIdFor(callId),
      content: content.length === 0 ? undefined : content,
      is_error: isError ? true : undefined,
    };
  }

  /** Arguments are JSON inside of a text, so no scan of the request has counted their values. */
  #call({ id, name, arguments: given, pointer }: ToolCallPart): WritableJson {
    const text = given.trim() === '' ? '{}' : given;
    const scanner = new JsonScanner(Buffer.from(text), { maxValues: this.#valuesLeft });
    while (!scanner.advance());
    this.#valuesLeft -= scanner.values;
    if (scanner.fault?.kind === 'too-many-values') return refuse(pointer, tooManyValues);
    if (scanner.fault !== null || !scanner.isObject)
      return refuse(pointer, 'the arguments of this call are not a JSON object');
    return { type: 'tool_use', id: callIdFor(id), name, input: new JsonText(text) };
  }
}

/** Not every model takes texts of the system between messages, so these follow those at the beginning. */
function systemTextsIn(turns: ReadonlyArray<Turn>): ReadonlyArray<TextPart> {
  return turns.flatMap(({ role, parts }) => (role === 'system' ? parts.filter((part) => part.kind === 'text') : []));
}

function isOwn(signature: { readonly of: string } | null): boolean {
  return signature?.of === protocolName;
}

/** Anthropic refuses an empty text. */
function hasText({ text }: TextPart): boolean {
  return text !== '';
}

function textBlock({ text }: TextPart): WritableJson {
  return { type: 'text', text };
}

const callId = /^[a-zA-Z0-9_-]+$/;

/** The id of a call, or one that is derived from it if Anthropic would refuse it. */
function callIdFor(id: string): string {
  return callId.test(id) ? id : `toolu_${hash('sha256', id).slice(0, 24)}`;
}

function sourceOf(source: Source): WritableJson {
  return source.kind === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.data };
}
