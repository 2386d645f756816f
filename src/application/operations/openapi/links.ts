import type { AnyOperation } from '#application/operations/operation.ts';
import { createdId, createdUnder } from '#application/operations/registry.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Returns the next operations for a created resource: every operation with its id in the path. */
export function linksOf(operation: AnyOperation, operations: ReadonlyArray<AnyOperation>): JsonObject {
  const place = placeOf(operation, operations);
  if (place === null) return {};
  const id = `$response.body#/${createdId(operation)}`;
  const links = operations.flatMap(({ name, summary, http }) => {
    const parameter = http.path.startsWith(`${place}:`)
      ? /^\w+/.exec(http.path.slice(place.length + 1))?.[0]
      : undefined;
    return parameter === undefined
      ? []
      : [[name, { operationId: name, parameters: { [parameter]: id }, description: summary }] as const];
  });
  return Object.fromEntries(links);
}

/** Returns the path of created resources; null for other operations. OpenAI's creations answer 200 instead of 201. */
function placeOf({ http: { method, path, status } }: AnyOperation, operations: ReadonlyArray<AnyOperation>) {
  if (method !== 'post') return null;
  const place = createdUnder(path, operations);
  return status === 201 || place === `${path}/` ? place : null;
}
