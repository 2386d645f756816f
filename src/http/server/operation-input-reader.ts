import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { ByteHold } from '#application/access/byte-budget.ts';
import { inexactIntegers, numberNotExact } from '#application/bodies/exact-numbers.ts';
import type { CallTarget } from '#application/operations/invoke.ts';
import type { RequestInput } from '#application/operations/operation-request.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { withoutDryRun } from '#http/request/dry-run.ts';
import { readQueryParameters } from '#http/request/query-parameters.ts';
import { jsonBodyReader } from '#http/request/request-body.ts';
import { unknownInput } from '#http/request/strict-input.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import type { RequestContext } from './request-context.ts';

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
    holdBody: () => ByteHold,
  ): Promise<E.Either<Failure, RequestInput>> {
    if (target.kind === 'none') return E.right({ fields: {}, bodyHash: hashOfNothing });
    const { route, parameters } = target;
    const { ctx, query } = context;
    const { headers } = ctx.req;
    if (!route.hasBody) {
      const unknown = unknownInput(route, { headers, query, body: {} });
      const fields = query === '' ? E.right({}) : readQueryParameters(query, route.members);
      if (E.isLeft(fields)) return fields;
      const bodyHash = hashOf(noBytes, withoutDryRun(query));
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
