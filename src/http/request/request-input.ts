import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as E from 'fp-ts/lib/Either.js';
import { bodySchema } from '#application/openapi/openapi.ts';
import type { CallTarget } from '#application/operations/invoke.ts';
import { isWriting } from '#application/operations/operation.ts';
import type { RequestInput } from '#application/operations/operation-request.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { unknownMembers, unknownParameters } from '#application/operations/unknown-members.ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import type { ByteReservation } from '#exchange/byte-budget.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { inexactIntegers, numberNotExact } from '#exchange/json-body.ts';
import type { RequestContext } from '#http/server/request-context.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { jsonBodyReader } from './request-body.ts';
import { isStrict, withoutDryRun } from './request-headers.ts';

/** The default of the most values in a JSON body. */
const defaultMaxBodyValues = 50_000;

/** Reads the input of requests from path, query and body. */
export class OperationInputReader {
  readonly #readBody: ReturnType<typeof jsonBodyReader>;

  constructor(maxBodyBytes: number, maxBodyValues = defaultMaxBodyValues) {
    this.#readBody = jsonBodyReader(maxBodyBytes, maxBodyValues);
  }

  /**
   * Reads the input of a request.
   * @param holdBody makes the hold that counts the bytes of its body
   */
  async read(
    context: RequestContext,
    target: CallTarget,
    holdBody: () => ByteReservation,
  ): Promise<E.Either<Failure, RequestInput>> {
    if (target.kind === 'none') return E.right({ fields: {}, bodyHash: hashOfNothing });
    const { route, parameters } = target;
    const { ctx, query } = context;
    const { headers } = ctx.req;
    if (!route.hasBody) {
      const unknown = unknownInput(route, { headers, query, body: {} });
      const fields = query === '' ? E.right({}) : readQueryParameters(query, route.members);
      if (E.isLeft(fields)) return fields;
      // Only a request that writes is remembered by its hash.
      const bodyHash = isWriting(route.operation) ? hashOf(noBytes, withoutDryRun(query)) : '';
      return E.right({ fields: { ...fields.right, ...parameters }, unknown, bodyHash });
    }
    const body = await this.#readBody(ctx, holdBody());
    if (E.isLeft(body)) return body;
    const { members, bytes } = body.right;
    const inexact = route.operation.plane === 'control' ? numberNotExact(await inexactIntegers(bytes)) : null;
    if (inexact !== null) return E.left(inexact);
    const unknown = unknownInput(route, { headers, query, body: members });
    const fields = { ...known(members, route.members), ...parameters };
    return E.right({ fields, unknown, bodyHash: hashOf(bytes, withoutDryRun(query)), bytes: bytes.length });
  }
}

const noBytes = Buffer.alloc(0);
const hashOfNothing = hash('sha256', noBytes);

function hashOf(bytes: Buffer, query: string): string {
  if (query === '') return bytes.length === 0 ? hashOfNothing : hash('sha256', bytes);
  return hash('sha256', Buffer.concat([bytes, Buffer.from(`?${query}`)]));
}

/** Returns only the members that an input names: others of a body (for example `__proto__`) never reach a codec. */
function known(members: JsonObject, names: ReadonlySet<string>): JsonObject {
  const found: Record<string, Json | undefined> = {};
  for (const name of names) if (Object.hasOwn(members, name)) found[name] = members[name];
  return found;
}

/**
 * The members of an input that a query string gives, as texts. Others are ignored.
 * @returns invalid-input when one is given twice
 */
export function readQueryParameters(query: string, known: ReadonlySet<string>): E.Either<Failure, JsonObject> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.has(name)) continue;
    if (fields.has(name)) return E.left(invalidInput([{ pointer: `/${name}`, message: 'must be given once' }]));
    fields.set(name, value);
  }
  return E.right(Object.fromEntries(fields));
}

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
