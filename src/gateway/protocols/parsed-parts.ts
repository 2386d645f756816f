import { keptText } from '#gateway/framing/json-text.ts';
import type {
  Conversation,
  DocumentPart,
  ImagePart,
  OutputForm,
  Source,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '#gateway/neutral/conversation.ts';
import { plainTextIn } from '#gateway/neutral/source.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { freeTextSchema } from './free-text.ts';
import { joinTurns, refuse, textOr } from './parsing.ts';

/** What a message or a result of a tool may have in it. */
export type ContentPart = TextPart | ImagePart | DocumentPart;

/** Collects the turns of a conversation. What the system says first is apart, and what it says later stays in its place. */
export class TurnCollector {
  readonly #system: TextPart[] = [];
  readonly #turns: Turn[] = [];

  add({ role, parts }: Turn): void {
    const isFirst = this.#turns.length === 0;
    if (role === 'system' && isFirst) this.#system.push(...onlyTexts(parts));
    else this.#turns.push({ role, parts: role === 'system' ? onlyTexts(parts) : parts });
  }

  get collected(): Pick<Conversation, 'system' | 'turns'> {
    return { system: this.#system, turns: joinTurns(this.#turns) };
  }
}

/** The texts of a content that may have nothing else. */
export function onlyTexts(parts: Turn['parts']): ReadonlyArray<TextPart> {
  return parts.map((part) => (part.kind === 'text' ? part : refuse(part.pointer, 'only texts can be here')));
}

/** A file that a client sends: a picture, a plain text, or another document. */
export function filePart(source: Source, name: string | null, pointer: string): ImagePart | DocumentPart {
  if (source.kind === 'url') return { kind: 'document', source, name, pointer };
  if (source.mediaType.startsWith('image/')) return { kind: 'image', source, pointer };
  const text = plainTextIn(source);
  return { kind: 'document', source: text === null ? source : { kind: 'text', text }, name, pointer };
}

/** @param given its arguments, as JSON text */
export function toolCallPart(
  { id, name }: { readonly id: Json | undefined; readonly name: Json | undefined },
  given: string | null,
  pointer: string,
): ToolCallPart {
  return { kind: 'tool-call', id: textOr(id) ?? '', name: textOr(name) ?? '', arguments: given ?? '', pointer };
}

export function toolResultPart(
  callId: Json | undefined,
  parts: ReadonlyArray<ContentPart>,
  pointer: string,
): ToolResultPart {
  return { kind: 'tool-result', callId: textOr(callId) ?? '', isError: false, parts, pointer };
}

/** @param schema of its arguments */
export function functionTool(
  { name, description, strict }: JsonObject,
  schema: Json | undefined,
  pointer: string,
): Tool {
  return {
    name: textOr(name) ?? '',
    description: textOr(description),
    schema: keptText(schema),
    isStrict: typeof strict === 'boolean' ? strict : null,
    isFreeText: false,
    pointer,
  };
}

/** A tool that takes a text. No other protocol has a grammar for one. */
export function freeTextTool(custom: JsonObject, pointer: string, ignored: Set<string>): Tool {
  const { format } = custom;
  if (isObject(format) && format.type !== 'text') ignored.add(`${pointer}/format`);
  return { ...functionTool(custom, null, pointer), schema: freeTextSchema, isStrict: null, isFreeText: true };
}

/**
 * OpenAI's choice of a tool.
 * @param nameIn the name of the tool in a choice of one
 */
export function openAiToolChoice(
  choice: Json | undefined,
  tools: ReadonlyArray<Tool>,
  nameIn: (choice: JsonObject) => Json | undefined,
): ToolChoice | null {
  if (choice === undefined || choice === null) return null;
  if (choice === 'auto' || choice === 'none') return { kind: choice };
  return choice === 'required' ? { kind: 'any' } : forcedTool(isObject(choice) ? nameIn(choice) : undefined, tools);
}

/** The choice of one tool, which must be there. */
export function forcedTool(name: Json | undefined, tools: ReadonlyArray<Tool>): ToolChoice {
  const forced = tools.find((tool) => tool.name === name);
  return forced === undefined
    ? refuse('/tool_choice', 'this tool_choice cannot be expressed for this target')
    : { kind: 'tool', name: forced.name };
}

/**
 * OpenAI's form of an answer.
 * @param describedIn the object with the schema in a form that has one
 */
export function openAiOutput(
  format: Json | undefined,
  describedIn: (format: JsonObject) => Json | undefined,
  pointer: string,
): OutputForm | null {
  if (!isObject(format) || format.type === 'text') return null;
  if (format.type === 'json_object') return { name: 'json', schema: null, pointer };
  const described = format.type === 'json_schema' ? describedIn(format) : undefined;
  if (!isObject(described)) return refuse(pointer, 'this form of an answer is unknown');
  return { name: textOr(described.name) ?? 'answer', schema: keptText(described.schema), pointer };
}
