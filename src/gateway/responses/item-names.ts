import { isItemReference, type ResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import { signatureIn } from '#gateway/protocols/signature-text.ts';
import { responseIdNamedBy } from '#responses/response-ids.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';

/** The beginning of the names of containers. No item has such a name. */
const containerPrefix = 'container:';

/** The beginning of the names of reasoning, by which the provider is found that can read its opaque part. */
const reasoningPrefix = 'reasoning:';

export function containerName(id: string): string {
  return containerPrefix + id;
}

/** The name by which the provider of reasoning is found. */
export function reasoningName(id: string): string {
  return reasoningPrefix + id;
}

/** The names that the client has given to the request's own input. */
export function inputNames({ items }: Pick<ResponsesRequest, 'items'>): ReadonlyArray<string> {
  return items.flatMap((item) => (item.id === null || isItemReference(item) || !isName(item.id) ? [] : [item.id]));
}

/**
 * Later turns find what a response has made: the containers and the reasoning of its provider, and the items, but for
 * those whose ids name the response.
 */
export function outputNames(response: JsonObject): ReadonlyArray<string> {
  const made = outputOf(response);
  const items = made.flatMap(({ id }) =>
    typeof id === 'string' && isName(id) && responseIdNamedBy(id) !== response.id ? [id] : [],
  );
  return [...made.flatMap(containerIn).map(containerName), ...made.flatMap(reasoningIn).map(reasoningName), ...items];
}

function outputOf({ output }: JsonObject): ReadonlyArray<JsonObject> {
  return Array.isArray(output) ? output.filter(isObject) : [];
}

export function isName(id: string): boolean {
  return !id.startsWith(containerPrefix) && !id.startsWith(reasoningPrefix);
}

/** The reasoning of an item whose opaque part only its provider can read. */
function reasoningIn({ id, encrypted_content: value }: JsonObject): ReadonlyArray<string> {
  const isOpaque = typeof value === 'string' && signatureIn(value) === null;
  return isOpaque && typeof id === 'string' ? [id] : [];
}

/** The container in which the code of the item ran. */
function containerIn({ container_id: id, environment }: JsonObject): ReadonlyArray<string> {
  if (typeof id === 'string') return [id];
  return isObject(environment) && typeof environment.container_id === 'string' ? [environment.container_id] : [];
}
