import { encryptedContentOf, signatureIn } from '#gateway/protocols/openai-responses/encrypted-content.ts';
import { type ItemPlace, itemIdOf, responseIdNamedBy } from '#gateway/protocols/openai-responses/response-ids.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** Makes the items of a request's own input, each with a type and an id. */
export function ownItems(input: Json | undefined, responseId: string): ReadonlyArray<JsonObject> {
  const list = typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : [];
  return list.filter(isObject).map((item, index) => itemOf(item, { responseId, list: 'input', index }));
}

function itemOf(item: JsonObject, at: ItemPlace): JsonObject {
  const { type, role, content, id } = item;
  if (isReferenceItem(item)) return { type: 'item_reference', id };
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

/** The items of a turn as a later turn sees them: its own input, and the output. */
export function itemsOfTurn({ input, response }: KeptTurn): ReadonlyArray<JsonObject> {
  const output = Array.isArray(response.output) ? response.output.filter(isObject) : [];
  return [...input, ...output];
}

/** Begins the names of containers. No item has such a name. */
const containerPrefix = 'container:';

/** The name by which the container of a provider is found. */
export function containerName(id: string): string {
  return containerPrefix + id;
}

/**
 * The names by which later turns find what a turn has made: the containers of the provider, and its items, but for those
 * whose ids name their response.
 */
export function namesOf(
  input: ReadonlyArray<JsonObject>,
  { id: responseId, output }: JsonObject,
): ReadonlyArray<string> {
  const made = Array.isArray(output) ? output.filter(isObject) : [];
  const containers = made.flatMap(containerIn).map(containerName);
  const items = [...made, ...input.filter((item) => !isReferenceItem(item))].flatMap(({ id }) =>
    typeof id === 'string' && !id.startsWith(containerPrefix) && responseIdNamedBy(id) !== responseId ? [id] : [],
  );
  return [...containers, ...items];
}

/** The container in which the code of an item ran. */
function containerIn({ container_id: id, environment }: JsonObject): ReadonlyArray<string> {
  if (typeof id === 'string') return [id];
  return isObject(environment) && typeof environment.container_id === 'string' ? [environment.container_id] : [];
}

/**
 * Makes an item as it is sent again. The opaque part of reasoning gets the name of the provider that made it. Reasoning
 * without one cannot be sent again.
 * @returns null if it is left out
 */
export function sentAgain(item: JsonObject, provider: string | null): JsonObject | null {
  if (item.type !== 'reasoning') return item;
  const { encrypted_content: value } = item;
  if (typeof value !== 'string' || value === '') return null;
  if (provider === null || signatureIn(value) !== null) return item;
  return { ...item, encrypted_content: encryptedContentOf({ of: provider, value, isRedacted: false }) };
}
