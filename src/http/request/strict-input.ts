import type { IncomingHttpHeaders } from 'node:http';
import { bodySchema } from '#application/operations/openapi.ts';
import { isWriting } from '#application/operations/operation.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { unknownMembers, unknownParameters } from '#application/operations/unknown-members.ts';
import type { InputError } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { isStrict } from './prefer.ts';

/** A request as it was sent. */
interface SentInput {
  readonly headers: IncomingHttpHeaders;
  /** The query string without its question mark; empty without a query. */
  readonly query: string;
  readonly body: JsonObject;
}

/**
 * Finds the members and query parameters that an operation does not know, if the request prefers strict handling.
 * @returns a fault for each; none without that preference
 */
export function unknownInput(
  { operation, members, hasBody }: OperationRoute,
  sent: SentInput,
): ReadonlyArray<InputError> {
  if (!isStrict(sent.headers)) return [];
  const inPath = new Set([...operation.http.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const inQuery = hasBody ? new Set<string>() : new Set([...members].filter((name) => !inPath.has(name)));
  return [
    ...unknownParameters(sent.query, isWriting(operation) ? inQuery.add('dryRun') : inQuery),
    ...(hasBody ? unknownMembers(bodySchema(operation), sent.body) : []),
  ];
}
