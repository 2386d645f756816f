import type * as E from 'fp-ts/lib/Either.js';
import { JsonText, type WritableJson, writeJson } from '#gateway/framing/json-text.ts';
import {
  type Conversation,
  type DocumentPart,
  type Effort,
  type ImagePart,
  isBlank,
  isBlankText,
  type OutputForm,
  type Part,
  type ReasoningPart,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolResultPart,
  type Turn,
  type Unsupported,
} from '#gateway/neutral/conversation.ts';
import { pairCalls } from '#gateway/neutral/paired-calls.ts';
import { urlOf } from '#gateway/neutral/source.ts';
import { leaveOutCacheControl } from '#gateway/protocols/cache-control.ts';
import { callIdForResponses } from '#gateway/protocols/call-id-rules.ts';
import { withoutLastThoughts } from '#gateway/protocols/last-thoughts.ts';
import { orUnsupported, refuse } from '#gateway/protocols/parsing.ts';
import type { WrittenRequest } from '#gateway/protocols/protocol.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { schemaWith } from '#gateway/protocols/tool-schema.ts';
import { wantedInclude } from './responses-body.ts';

type Item = Readonly<Record<string, WritableJson | undefined>>;

/** The smallest limit. OpenAI refuses fewer (https://platform.openai.com/docs/api-reference/responses/create). */
const minOutputTokens = 16;

/**
 * https://platform.openai.com/docs/api-reference/responses/create. The provider stores nothing, so a model that thinks
 * gives its reasoning with each answer, and gets it back before the calls that followed it
 * (https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context).
 */
export function writeResponses(conversation: Conversation, target: TargetModel): E.Either<Unsupported, WrittenRequest> {
  return orUnsupported(() => new ResponsesRequestWriter(conversation, target).write());
}

class ResponsesRequestWriter {
  readonly #conversation: Conversation;
  readonly #target: TargetModel;
  readonly #ignored = new Set<string>();

  constructor(conversation: Conversation, target: TargetModel) {
    this.#conversation = conversation;
    this.#target = target;
  }

  write(): WrittenRequest {
    const { tools, maxTokens, output, stopSequences, topK, isStreamed } = this.#conversation;
    for (const { pointer } of stopSequences) this.#ignored.add(pointer);
    if (topK !== null) this.#ignored.add(topK.pointer);
    leaveOutCacheControl(this.#conversation, this.#ignored);
    const body = writeJson({
      model: this.#target.model,
      ...this.#said(),
      max_output_tokens: maxTokens === null ? undefined : Math.max(minOutputTokens, maxTokens),
      ...this.#sampling(),
      ...(tools.length === 0 ? {} : this.#tools()),
      text: output === null ? undefined : { format: this.#format(output) },
      reasoning: this.#reasoning(),
      include: this.#target.reasoning ? [wantedInclude] : undefined,
      store: false,
      stream: isStreamed ? true : undefined,
    });
    return { body: Buffer.from(body), ignored: [...this.#ignored] };
  }

  /** What is said. OpenAI needs an input. What only the system says becomes one. */
  #said(): Item {
    const instructions = systemText(this.#conversation.system);
    const input = pairCalls(this.#conversation.turns).flatMap((turn) => this.#items(turn));
    if (instructions === '') return { input };
    return this.#systemRole === 'developer' || input.length === 0
      ? { input: [messageItem(this.#systemRole, instructions), ...input] }
      : { instructions, input };
  }

  /**
   * Any JSON needs the word in the input, and there OpenAI reads what a developer says, but neither the system nor the
   * instructions (https://platform.openai.com/docs/guides/structured-outputs#json-mode).
   */
  get #systemRole(): 'developer' | 'system' {
    return this.#conversation.output?.schema === null ? 'developer' : 'system';
  }

  #items({ role, parts }: Turn): ReadonlyArray<Item> {
    if (role === 'assistant') return this.#assistantItems(parts);
    if (role === 'user') return this.#userItems(parts);
    const text = systemText(parts);
    return text === '' ? [] : [messageItem(this.#systemRole, text)];
  }

  /** The items of the assistant. Texts in a row are one, and blank ones are left out. */
  #assistantItems(parts: ReadonlyArray<Part>): ReadonlyArray<Item> {
    const said = parts.filter((part) => !isBlankText(part));
    const items: Item[] = [];
    for (const run of runsOf(withoutLastThoughts(said, this.#ignored), isText)) {
      const [first] = run;
      if (isText(first))
        items.push(messageItem('assistant', run.map((part) => (isText(part) ? part.text : '')).join('')));
      else if (first.kind === 'tool-call') items.push(this.#callItem(first));
      else if (first.kind === 'reasoning') items.push(...this.#reasoningItem(first));
      else refuse(first.pointer, 'this target takes only texts and calls of tools from an assistant');
    }
    return items;
  }

  /** The item of a call. What another provider needs back with it does not fit. */
  #callItem({ id, name, arguments: given, state, pointer }: ToolCallPart): Item {
    if (state !== null) this.#ignored.add(pointer);
    return { type: 'function_call', call_id: callIdForResponses(id), name, arguments: isBlank(given) ? '{}' : given };
  }

  /** The item of reasoning. That of another provider, and one without its opaque part, is left out. */
  #reasoningItem({ text, signature, pointer }: ReasoningPart): ReadonlyArray<Item> {
    if (signature?.of !== this.#target.provider) {
      this.#ignored.add(pointer);
      return [];
    }
    const summary = text === '' ? [] : [{ type: 'summary_text', text }];
    return [{ type: 'reasoning', summary, encrypted_content: signature.value }];
  }

  /** The items of the user. A blank text next to others is left out; one alone passes as it came. */
  #userItems(parts: ReadonlyArray<Part>): ReadonlyArray<Item> {
    const said = parts.every(isBlankText) ? parts : parts.filter((part) => !isBlankText(part));
    return runsOf(said, isContent).flatMap((run) => {
      const [first] = run;
      if (first.kind === 'tool-result') return [this.#resultItem(first)];
      const content = run.map((part) => (isContent(part) ? part : refuse(part.pointer, 'a user cannot say this')));
      return [messageItem('user', this.#content(content))];
    });
  }

  #resultItem({ callId, isError, parts, pointer }: ToolResultPart): Item {
    if (isError) this.#ignored.add(`${pointer}/is_error`);
    const output = parts.every(isText) ? parts.map(({ text }) => text).join('') : this.#content(parts);
    return { type: 'function_call_output', call_id: callIdForResponses(callId), output };
  }

  /** The content. A text alone is a string, which more servers take than a list of parts. */
  #content(parts: ReadonlyArray<ContentPart>): WritableJson {
    const [only] = parts;
    if (parts.length === 1 && only?.kind === 'text') return only.text;
    return parts.map((part) => this.#contentPart(part));
  }

  #contentPart(part: ContentPart): WritableJson {
    if (part.kind === 'text') return textPart(part.text);
    if (part.kind === 'image')
      return { type: 'input_image', image_url: urlOf(part.source), detail: part.detail?.value ?? 'auto' };
    const { source, name } = part;
    if (source.kind === 'base64')
      return { type: 'input_file', filename: name?.value ?? 'document.pdf', file_data: urlOf(source) };
    if (name !== null) this.#ignored.add(name.pointer);
    return source.kind === 'url' ? { type: 'input_file', file_url: source.url } : textPart(source.text);
  }

  #tools(): Item {
    const { tools, toolChoice, allowsParallelCalls } = this.#conversation;
    return {
      tools: tools.map(toolOf),
      tool_choice: toolChoiceOf(toolChoice),
      parallel_tool_calls: allowsParallelCalls ? undefined : false,
    };
  }

  /** The form of the answer. Any JSON has no description. */
  #format({ name, description, schema, isStrict }: OutputForm): WritableJson {
    if (schema !== null)
      return {
        ...{ type: 'json_schema', name, description: description?.value },
        ...{ schema: new JsonText(schema), strict: isStrict ?? false },
      };
    if (description !== null) this.#ignored.add(description.pointer);
    return { type: 'json_object' };
  }

  /**
   * The settings of sampling. A model that thinks refuses `temperature` and `top_p` unless it is asked not to think
   * (https://platform.openai.com/docs/guides/latest-model). 1 is the default of both.
   */
  #sampling(): Item {
    const { temperature, topP, reasoning } = this.#conversation;
    if (!this.#target.reasoning || reasoning?.effort === 'none')
      return { temperature: temperature?.value, top_p: topP?.value };
    for (const tuned of [temperature, topP]) if (tuned !== null && tuned.value !== 1) this.#ignored.add(tuned.pointer);
    return {};
  }

  /** The settings of reasoning. Only a client that asks for thinking shows its summary. */
  #reasoning(): WritableJson | undefined {
    const { reasoning } = this.#conversation;
    if (reasoning === null) return undefined;
    const { effort, pointer } = reasoning;
    if (this.#target.reasoning)
      return effort === 'none' ? { effort } : { effort: takenEffort(effort), summary: 'auto' };
    if (effort !== 'none') this.#ignored.add(pointer);
    return undefined;
  }
}

/**
 * The effort that models accept. GPT-5.1 and later refuse `minimal`
 * (https://platform.openai.com/docs/guides/reasoning).
 */
function takenEffort(effort: Effort): Effort {
  return effort === 'minimal' ? 'low' : effort;
}

type ContentPart = TextPart | ImagePart | DocumentPart;
type Run = readonly [Part, ...Part[]];

function runsOf(parts: ReadonlyArray<Part>, goesTogether: (part: Part) => boolean): ReadonlyArray<Run> {
  const runs: [Part, ...Part[]][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run !== undefined && goesTogether(run[0]) && goesTogether(part)) run.push(part);
    else runs.push([part]);
  }
  return runs;
}

function isText(part: Part): part is TextPart {
  return part.kind === 'text';
}

function isContent(part: Part): part is ContentPart {
  return part.kind === 'text' || part.kind === 'image' || part.kind === 'document';
}

function systemText(parts: ReadonlyArray<Part>): string {
  const texts = parts.flatMap((part) => (isText(part) && !isBlank(part.text) ? [part.text] : []));
  return texts.join('\n\n');
}

function messageItem(role: 'developer' | 'system' | 'user' | 'assistant', content: WritableJson): Item {
  return { type: 'message', role, content };
}

function textPart(text: string): WritableJson {
  return { type: 'input_text', text };
}

/** In Responses a function without `strict` is strict (https://platform.openai.com/docs/guides/migrate-to-responses). */
function toolOf({ name, description, schema, isStrict }: Tool): WritableJson {
  return {
    ...{ type: 'function', name, description: description ?? undefined },
    parameters: new JsonText(schemaWith(schema ?? '{}', ['type', 'properties'])),
    strict: isStrict ?? false,
  };
}

function toolChoiceOf(choice: ToolChoice | null): WritableJson | undefined {
  if (choice === null) return undefined;
  if (choice.kind === 'tool') return { type: 'function', name: choice.name };
  return choice.kind === 'any' ? 'required' : choice.kind;
}
