import type { AnyOperation } from '#application/operations/operation.ts';
import { createdId, createdUnder, pathParameters } from '#application/operations/registry.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Returns the next operations for a created resource: every operation with its id in the path. */
export function linksOf(operation: AnyOperation, operations: ReadonlyArray<AnyOperation>): JsonObject {
  const place = createdUnder(operation, operations);
  if (place === null) return {};
  const id = `$response.body#/${createdId(operation)}`;
  const above = pathParameters(place).map((name) => [name, `$request.path.${name}`]);
  const links = operations.flatMap(({ name, summary, http }) => {
    const parameter = http.path.startsWith(`${place}:`)
      ? /^\w+/.exec(http.path.slice(place.length + 1))?.[0]
      : undefined;
    return parameter === undefined
      ? []
      : [
          [
            name,
            { operationId: name, parameters: { ...Object.fromEntries(above), [parameter]: id }, description: summary },
          ] as const,
        ];
  });
  return Object.fromEntries(links);
}
