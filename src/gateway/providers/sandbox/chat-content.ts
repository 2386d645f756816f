import type { ChatRequest } from '#gateway/chat/chat-request.ts';
import { briefValue, lastMember } from '#gateway/wire/json-members.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { sampleSchema } from './schema-sample.ts';
import { UnfitSchemaError } from './unfit-schema-error.ts';

/** The sandbox's answer to a chat: a text or a function call. */
export type ChatContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'function-call'; readonly name: string; readonly arguments: string };

/** The most bytes of a member that is parsed, because parsing many values takes long. */
const maxMemberBytes = 256 * 1024;
/** The most characters that an answer repeats, because the largest number of choices must fit in memory. */
const maxRepeated = 100_000;

const maxChoices = 128;

/** The number of choices in the answer, which all have the same content. */
export function choicesIn({ choices }: ChatRequest): number {
  return Math.min(Math.floor(choices), maxChoices);
}

/** The text of the last message of the user. */
export function lastUserText(request: ChatRequest): string {
  const { bytes, lastUserContent: content } = request;
  const said = content === null ? null : briefValue(bytes, content);
  if (typeof said === 'string') return said;
  if (content === null || !Array.isArray(said) || content.end - content.valueStart > maxMemberBytes) return '';
  const parts: ReadonlyArray<Json> = JSON.parse(bytes.toString('utf8', content.valueStart, content.end));
  return parts
    .filter(isObject)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

/**
 * Decides the answer: a function call if `tool_choice` requires one, a value of the schema if `response_format` has
 * one, else a text.
 * @throws UnfitSchemaError if it cannot; the message has the reason
 */
export function contentOf(request: ChatRequest): ChatContent {
  const demanded = demandedFunction(request);
  if (demanded !== null) return callOf(demanded, choicesIn(request));
  const said = `This is the Switchyard sandbox and no model. You said: ${repeated(lastUserText(request))}`;
  const format = member(request, 'response_format');
  if (!isObject(format)) return { kind: 'text', text: said };
  if (format.type === 'json_object') return { kind: 'text', text: JSON.stringify({ sandbox: said }) };
  if (format.type !== 'json_schema') return { kind: 'text', text: said };
  const schema = isObject(format.json_schema) ? (format.json_schema.schema ?? {}) : {};
  return { kind: 'text', text: JSON.stringify(sampleSchema(schema, choicesIn(request))) };
}

function callOf(tool: JsonObject, choices: number): ChatContent {
  const name = typeof tool.name === 'string' ? tool.name : '';
  const made = tool.parameters === undefined ? {} : sampleSchema(tool.parameters, choices);
  return { kind: 'function-call', name, arguments: JSON.stringify(made) };
}

/** The function that must be called; null for none. */
function demandedFunction(request: ChatRequest): JsonObject | null {
  const choice = member(request, 'tool_choice');
  const named = isObject(choice) && isObject(choice.function) ? choice.function.name : null;
  if (choice !== 'required' && !isObject(choice)) return null;
  const tools = member(request, 'tools');
  const functions = (Array.isArray(tools) ? tools : [])
    .filter(isObject)
    .flatMap((tool) => (isObject(tool.function) ? [tool.function] : []));
  const found = choice === 'required' ? functions[0] : functions.find(({ name }) => name === named);
  if (found === undefined) throw new UnfitSchemaError('tool_choice demands a function that tools does not hold.');
  return found;
}

/** The parsed value of a member, if it is small enough. */
function member({ bytes, members }: ChatRequest, name: string): Json | undefined {
  const found = lastMember(members, name);
  if (found === undefined) return undefined;
  if (found.end - found.valueStart > maxMemberBytes)
    throw new UnfitSchemaError(`The sandbox reads ${name} up to ${maxMemberBytes} bytes.`);
  return JSON.parse(bytes.toString('utf8', found.valueStart, found.end));
}

function repeated(text: string): string {
  return text.length > maxRepeated ? `${text.slice(0, maxRepeated).toWellFormed()}…` : text;
}
