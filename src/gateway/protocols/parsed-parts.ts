import {
  type Conversation,
  type DocumentPart,
  type ImagePart,
  joinTurns,
  type OutputForm,
  type Part,
  type PlacedValue,
  type Source,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolForm,
  type ToolResultPart,
  type Turn,
} from '#gateway/neutral/conversation.ts';
import { plainTextIn } from '#gateway/neutral/source.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { freeTextSchema } from './free-text.ts';
import type { LeftOut } from './left-out.ts';
import { kindOf, objectOr, refuse, shown, textAt } from './parsing.ts';
import { schemaIn } from './tool-schema.ts';

/** What a message or a result of a tool may have in it. */
export type ContentPart = TextPart | ImagePart | DocumentPart;

/** Collects the turns of a conversation. What the system says first is apart, and what it says later stays in its place. */
export class TurnCollector {
  readonly #system: TextPart[] = [];
  readonly #turns: Turn[] = [];

  add({ role, parts }: Turn): void {
    const isFirst = this.#turns.length === 0;
    if (role === 'system' && isFirst) this.#system.push(...onlyTexts(parts));
    else this.#turns.push({ role, parts: role === 'system' ? onlyTexts(parts) : parts.filter(saysSomething) });
  }

  get collected(): Pick<Conversation, 'system' | 'turns'> {
    return { system: this.#system, turns: joinTurns(this.#turns) };
  }
}

/** Whether a part says something: clients send back hidden reasoning that has neither a text nor a signature. */
export function saysSomething(part: Part): boolean {
  return part.kind !== 'reasoning' || part.text !== '' || part.signature !== null;
}

/** The texts of a content that may have nothing else. */
export function onlyTexts(parts: Turn['parts']): ReadonlyArray<TextPart> {
  return parts.map((part) => (part.kind === 'text' ? part : refuse(part.pointer, 'only texts can be here')));
}

/**
 * Reads a content: a text, or a list of parts. An object would otherwise be an empty text.
 * @param partOf reads an object in the list, whose pointer it gets
 */
export function contentParts<ReadPart>(
  content: Json | undefined,
  pointer: string,
  partOf: (part: JsonObject, pointer: string) => ReadPart,
): ReadonlyArray<ReadPart | TextPart> {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, pointer }];
  if (!Array.isArray(content))
    return refuse(pointer, `must be a text or a list of parts, and is ${kindOf(content)}: send JSON as a text`);
  return content.map((part, index) => {
    const place = `${pointer}/${index}`;
    return isObject(part) ? partOf(part, place) : refuse(place, 'is not a part of a content');
  });
}

/** Reads a part of one type; null if it does not have what the type needs. */
export type PartReader = (part: JsonObject, pointer: string, leftOut: LeftOut) => ContentPart | null;

/** Makes the reader of a content whose parts have these types, with the reader of each. */
export function partsReader(types: ReadonlyArray<readonly [string, PartReader]>) {
  const readers = new Map<Json, PartReader>(types);
  return (content: Json | undefined, pointer: string, leftOut: LeftOut): ReadonlyArray<ContentPart> =>
    contentParts(content, pointer, (part, place) => {
      const read = readers.get(part.type ?? null)?.(part, place, leftOut) ?? null;
      return read ?? refuse(place, `a part of the type ${shown(part.type)} cannot be expressed for this target`);
    });
}

/** Reads a part that is a text; null without one. */
export function textPart(part: JsonObject, pointer: string, leftOut: LeftOut): TextPart | null {
  const { text } = leftOut.read(part, pointer, ['type', 'text']);
  return typeof text === 'string' ? { kind: 'text', text, pointer } : null;
}

/** Reads what a model said instead of an answer; null if it is not a text. */
export function refusalPart(part: JsonObject, pointer: string, leftOut: LeftOut): TextPart | null {
  const { refusal } = leftOut.read(part, pointer, ['type', 'refusal']);
  return typeof refusal === 'string' ? { kind: 'text', text: refusal, pointer } : null;
}

/** A text with its place; null without one. */
export function placedText(value: Json | undefined, pointer: string): PlacedValue<string> | null {
  const text = textAt(value, pointer);
  return text === null || text === '' ? null : { value: text, pointer };
}

/** How closely an image is looked at; null for what targets do by default. */
export function imageDetail(value: Json | undefined, pointer: string): PlacedValue<string> | null {
  return value === 'auto' ? null : placedText(value, pointer);
}

/** A file that a client sends: a picture, which has no name, a plain text, or another document. */
export function filePart(
  source: Source,
  name: PlacedValue<string> | null,
  pointer: string,
  leftOut: LeftOut,
): ImagePart | DocumentPart {
  if (source.kind === 'url') return { kind: 'document', source, name, pointer };
  if (source.mediaType.startsWith('image/')) {
    if (name !== null) leftOut.add(name.pointer);
    return { kind: 'image', source, detail: null, pointer };
  }
  const text = plainTextIn(source);
  return { kind: 'document', source: text === null ? source : { kind: 'text', text }, name, pointer };
}

/** The members of a call of a tool; `given` are its arguments, as JSON text. */
interface CallMembers {
  readonly id: string | null;
  readonly name: string | null;
  readonly given: string | null;
}

export function toolCallPart({ id, name, given }: CallMembers, pointer: string): ToolCallPart {
  return { kind: 'tool-call', id: id ?? '', name: name ?? '', arguments: given ?? '', state: null, pointer };
}

export function toolResultPart(
  callId: string | null,
  parts: ReadonlyArray<ContentPart>,
  pointer: string,
): ToolResultPart {
  return { kind: 'tool-result', callId: callId ?? '', isError: false, parts, pointer };
}

/** The members in which the protocols have the schema of a tool's arguments; the last is of MCP. */
const schemaNames = ['parameters', 'input_schema', 'inputSchema'] as const;

/**
 * Reads the declaration of a function.
 * @param schemaName the member with the schema of its arguments
 */
export function functionTool(
  declared: JsonObject,
  schemaName: 'parameters' | 'input_schema',
  pointer: string,
  leftOut: LeftOut,
): Tool {
  const read = leftOut.read(declared, pointer, ['type', 'name', 'description', 'strict', schemaName]);
  const { name, description, strict } = read;
  const schema = schemaIn(read[schemaName]);
  if (schema === null) refuseSchema(declared, pointer, `is "${schemaName}" in this protocol`);
  else if (!schema.startsWith('{')) refuse(`${pointer}/${schemaName}`, 'must be a JSON Schema, which is an object');
  return {
    ...describedTool('function', name, description, pointer),
    schema,
    isStrict: leftOut.flagAt(strict, `${pointer}/strict`),
  };
}

/** A tool that takes a text. No other protocol has a grammar (`format`) for one. */
export function freeTextTool(declared: JsonObject, pointer: string, leftOut: LeftOut): Tool {
  const { name, description } = leftOut.read(declared, pointer, ['type', 'name', 'description']);
  refuseSchema(declared, pointer, 'a custom tool takes a text, and has no schema: declare a function');
  return { ...describedTool('custom', name, description, pointer), schema: freeTextSchema, isStrict: null };
}

/** Refuses a schema that would be lost: without it, a model would make up the arguments. */
function refuseSchema(declared: JsonObject, pointer: string, message: string): void {
  const name = schemaNames.find((each) => schemaIn(declared[each]) !== null);
  if (name !== undefined) refuse(`${pointer}/${name}`, message);
}

function describedTool(
  form: ToolForm,
  name: Json | undefined,
  description: Json | undefined,
  pointer: string,
): Pick<Tool, 'name' | 'client' | 'description' | 'pointer'> {
  if (typeof name !== 'string') return refuse(`${pointer}/name`, 'must be the name of a tool');
  const client = { form, namespace: null, name };
  return { name, client, description: textAt(description, `${pointer}/description`), pointer };
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
  if (choice === 'required') return anyTool(tools);
  return forcedTool(isObject(choice) ? nameIn(choice) : undefined, tools);
}

/** The choice of some tool, of which there must be one. */
export function anyTool(tools: ReadonlyArray<Tool>): ToolChoice {
  return tools.length === 0
    ? refuse('/tool_choice', 'demands a call of a tool, and this target gets no tool')
    : { kind: 'any' };
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
 * @param described the member of a form that describes its schema; null if the form does that itself
 */
export function openAiOutput(
  format: Json | undefined,
  pointer: string,
  described: string | null,
  leftOut: LeftOut,
): OutputForm | null {
  if (format === undefined || format === null) return null;
  const form = objectOr(format);
  if (form.type === 'json_schema') return schemaOutput(form, pointer, described, leftOut);
  const { type } = leftOut.read(form, pointer, ['type']);
  if (type === 'text') return null;
  if (type === 'json_object') return { name: 'json', description: null, schema: null, isStrict: null, pointer };
  return refuse(pointer, unknownForm);
}

const unknownForm = 'this form of an answer is unknown';

function schemaOutput(format: JsonObject, pointer: string, inside: string | null, leftOut: LeftOut): OutputForm {
  if (inside !== null) {
    const { [inside]: described } = leftOut.read(format, pointer, ['type', inside]);
    if (!isObject(described)) return refuse(pointer, unknownForm);
    return { ...schemaOutput(described, `${pointer}/${inside}`, null, leftOut), pointer };
  }
  const read = leftOut.read(format, pointer, ['type', 'name', 'description', 'schema', 'strict']);
  const { name, description, schema, strict } = read;
  return {
    name: textAt(name, `${pointer}/name`) ?? 'answer',
    description: placedText(description, `${pointer}/description`),
    schema: schemaIn(schema),
    isStrict: leftOut.flagAt(strict, `${pointer}/strict`),
    pointer,
  };
}
