import type { IncomingHttpHeaders } from 'node:http';
import { invalidInput } from '#application/operations/input-errors.ts';
import { isWriting } from '#application/operations/openapi/shape.ts';
import { bodySchema } from '#application/operations/openapi.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { unknownMembers, unknownParameters } from '#application/operations/unknown-members.ts';
import type { Failure } from '#domain/shared/failure.ts';
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
 * Refuses unknown members of a request that prefers strict handling.
 * @returns invalid-input with each unknown member and query parameter; null without any, or without that preference
 */
export function checkKnown({ operation, members, hasBody }: OperationRoute, sent: SentInput): Failure | null {
  if (!isStrict(sent.headers)) return null;
  const inPath = new Set([...operation.http.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const inQuery = hasBody ? new Set<string>() : new Set([...members].filter((name) => !inPath.has(name)));
  const unknown = [
    ...unknownParameters(sent.query, isWriting(operation) ? inQuery.add('dryRun') : inQuery),
    ...(hasBody ? unknownMembers(bodySchema(operation), sent.body) : []),
  ];
  return unknown.length === 0 ? null : invalidInput(unknown);
}
