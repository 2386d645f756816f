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
import { withCacheControl } from './cache-control.ts';
import { readCallId } from './call-state.ts';
import { freeTextSchema } from './free-text.ts';
import type { LeftOut } from './left-out.ts';
import { kindOf, listAt, objectOr, refuse, shown, textAt } from './parsing.ts';
import type { ToolNames } from './tool-names.ts';
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
      return read === null
        ? refuse(place, `a part of the type ${shown(part.type)} cannot be expressed for this target`)
        : withCacheControl(read, part, place, leftOut);
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

/** The members of a call of a tool. */
interface CallMembers {
  /** As the client echoes it. */
  readonly id: string | null;
  /** For targets. */
  readonly name: string;
  /** Its arguments, as JSON text. */
  readonly given: string | null;
}

export function toolCallPart({ id: echoed, name, given }: CallMembers, pointer: string): ToolCallPart {
  const { id, state } = readCallId(echoed ?? '');
  return { kind: 'tool-call', id, name, arguments: given ?? '', state, pointer };
}

/** @param callId as the client echoes it */
export function toolResultPart(
  callId: string | null,
  parts: ReadonlyArray<ContentPart>,
  pointer: string,
): ToolResultPart {
  return { kind: 'tool-result', callId: readCallId(callId ?? '').id, isError: false, parts, pointer };
}

/** Maximum characters of a tool's name. Of a text with more than 64 KiB, a parsed request has only the beginning. */
const maxNameCharacters = 1_024;

/** The name of a called tool, for targets. */
export function calledName(
  name: Json | undefined,
  pointer: string,
  names: ToolNames,
  namespace: string | null = null,
): string {
  return names.nameOf(namespace, shortName(textAt(name, pointer) ?? '', pointer));
}

/** A name of a tool or of its namespace, which is not too long. */
export function shortName(name: string, pointer: string): string {
  return name.length > maxNameCharacters
    ? refuse(pointer, `the name of a tool may have ${maxNameCharacters} characters at most`)
    : name;
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
  const tool = {
    ...describedTool('function', name, description, pointer),
    schema,
    isStrict: leftOut.flagAt(strict, `${pointer}/strict`),
  };
  return withCacheControl(tool, declared, pointer, leftOut);
}

/** A tool that takes a text. No other protocol has a grammar (`format`) for one. */
export function freeTextTool(declared: JsonObject, pointer: string, leftOut: LeftOut): Tool {
  const { name, description } = leftOut.read(declared, pointer, ['type', 'name', 'description']);
  refuseSchema(declared, pointer, 'a custom tool takes a text, and has no schema: declare a function');
  const tool = { ...describedTool('custom', name, description, pointer), schema: freeTextSchema, isStrict: null };
  return withCacheControl(tool, declared, pointer, leftOut);
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
  const client = { form, namespace: null, name: shortName(name, `${pointer}/name`) };
  return { name, client, description: textAt(description, `${pointer}/description`), pointer };
}

/** Gives a tool its name for targets. */
export function named(tool: Tool, names: ToolNames): Tool {
  const { namespace, name } = tool.client;
  return { ...tool, name: names.nameOf(namespace, name) };
}

/** How a protocol of OpenAI writes a choice of tools. */
export interface ChoiceForm {
  /** The object with the mode and the tools of a choice among some tools, and its pointer. */
  readonly allowed: (choice: JsonObject, leftOut: LeftOut) => readonly [JsonObject, string];
  /** The name for targets of the tool that an object names; null for one that does not run at the client. */
  readonly nameIn: (object: JsonObject, pointer: string, leftOut: LeftOut) => string | null;
}

/**
 * OpenAI's choice of tools: the tools that the target gets, and which of them it may or must call. Of some tools
 * (`allowed_tools`), those that the client has not declared, or that run at OpenAI, are left out.
 */
export function openAiToolChoice(
  choice: Json | undefined,
  tools: ReadonlyArray<Tool>,
  form: ChoiceForm,
  leftOut: LeftOut,
): Pick<Conversation, 'tools' | 'toolChoice'> {
  if (choice === undefined || choice === null) return { tools, toolChoice: null };
  if (choice === 'auto' || choice === 'none') return { tools, toolChoice: { kind: choice } };
  if (choice === 'required') return { tools, toolChoice: anyTool(tools) };
  if (objectOr(choice).type === 'allowed_tools') return allowedTools(objectOr(choice), tools, form, leftOut);
  const name = isObject(choice) ? form.nameIn(choice, '/tool_choice', leftOut) : null;
  return { tools, toolChoice: forcedTool(name, tools) };
}

function allowedTools(
  choice: JsonObject,
  tools: ReadonlyArray<Tool>,
  { allowed: allowedIn, nameIn }: ChoiceForm,
  leftOut: LeftOut,
): Pick<Conversation, 'tools' | 'toolChoice'> {
  const [object, pointer] = allowedIn(choice, leftOut);
  const { mode, tools: listed } = leftOut.read(object, pointer, ['type', 'mode', 'tools']);
  const declared = new Set<string | null>(tools.map(({ name }) => name));
  const allowed = new Set<string | null>();
  for (const [index, each] of listAt(listed, `${pointer}/tools`).entries()) {
    const place = `${pointer}/tools/${index}`;
    const name = nameIn(objectOr(each), place, leftOut);
    if (declared.has(name)) allowed.add(name);
    else leftOut.add(place);
  }
  const kept = tools.filter(({ name }) => allowed.has(name));
  for (const { name, cacheControl } of tools)
    if (cacheControl !== undefined && !allowed.has(name)) leftOut.add(cacheControl.pointer);
  return { tools: kept, toolChoice: mode === 'required' ? anyTool(kept) : { kind: 'auto' } };
}

/** The choice of some tool, of which there must be one. */
export function anyTool(tools: ReadonlyArray<Tool>): ToolChoice {
  return tools.length === 0
    ? refuse('/tool_choice', 'demands a call of a tool, and this target gets no tool')
    : { kind: 'any' };
}

/**
 * The choice of one tool, which must be there.
 * @param name for targets
 */
export function forcedTool(name: string | null, tools: ReadonlyArray<Tool>): ToolChoice {
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
