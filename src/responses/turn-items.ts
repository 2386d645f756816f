import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { type ItemPlace, itemIdOf } from './response-ids.ts';
import type { Turn } from './turn.ts';

/** Makes the items of a request's own input, each with a type and an id. */
export function ownItems(input: Json | undefined, responseId: string): ReadonlyArray<JsonObject> {
  const list = typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : [];
  return list.filter(isObject).map((item, index) => itemOf(item, { responseId, list: 'input', index }));
}

function itemOf(item: JsonObject, at: ItemPlace): JsonObject {
  const { type, role, content, id } = item;
  if (isReferenceItem(item) || isOnlyNamed(item)) return { type: 'item_reference', id };
  if ((type === undefined || type === 'message') && typeof role === 'string' && typeof content === 'string')
    return { ...item, ...messageOf(role, content, typeof id === 'string' ? id : itemIdOf('msg', at)) };
  const named = type === undefined || type === null ? { ...item, type: 'message' } : item;
  return typeof id === 'string' ? named : { ...named, id: itemIdOf(prefixes.get(String(named.type)) ?? 'item', at) };
}

function messageOf(role: string, text: string, id: string): JsonObject {
  const part = role === 'assistant' ? { type: 'output_text', annotations: [], text } : { type: 'input_text', text };
  return { type: 'message', id, status: 'completed', role, content: [part] };
}

const prefixes = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['custom_tool_call', 'ctc'],
  ['custom_tool_call_output', 'ctco'],
]);

/** Whether an item names another one by its id. */
export function isReferenceItem({ type, id, role }: JsonObject): boolean {
  const isUntyped = type === undefined || type === null;
  return typeof id === 'string' && (type === 'item_reference' || (isUntyped && role === undefined));
}

/** Members that describe an item. One with no others names a stored one, as OpenAI's clients name pictures. */
export const describingMembers = [
  ...['id', 'type', 'status', 'action', 'background', 'moderation', 'output_compression', 'output_format'],
  ...['partial_images', 'quality', 'revised_prompt', 'size'],
];

/** Whether an item of a request's own input has an id and no content. Reasoning may be without content. */
function isOnlyNamed(item: JsonObject): boolean {
  const isEmpty = (value: Json | undefined) =>
    value === undefined || value === null || value === '' || (typeof value === 'object' && isEmptyObject(value));
  return (
    typeof item.id === 'string' &&
    item.type !== 'reasoning' &&
    Object.entries(item).every(
      ([name, value]) => isEmpty(value) || (describingMembers.includes(name) && typeof value !== 'object'),
    )
  );
}

function isEmptyObject(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** The items of a response's output. */
export function outputOf({ output }: JsonObject): ReadonlyArray<JsonObject> {
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** The items of a turn as a later turn sees them: its own input, and the output. */
export function itemsOfTurn({ input, response }: Turn): ReadonlyArray<JsonObject> {
  return [...input, ...outputOf(response)];
}
