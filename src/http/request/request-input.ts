import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { Context } from 'koa';
import { bodySchema } from '#application/openapi/openapi.ts';
import { type OperationRoute, pathParameters } from '#application/operations/registry.ts';
import { isStrict, withoutDryRun } from '#application/operations/request-headers.ts';
import { unknownMembers, unknownParameters } from '#application/operations/unknown-members.ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import type { Arrival, ArrivalLimits, Body, BodyBytes, RequestInput, TakePiece } from '#exchange/body.ts';
import type { ByteReservation } from '#exchange/byte-budget.ts';
import { ignoredMembers } from '#exchange/ignored-members.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { inexactIntegers, numberNotExact } from '#exchange/json-body.ts';
import type { Request } from '#exchange/request.ts';
import type { RequestContext } from '#http/request/request-context.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { ConnectionBody, jsonBodyReader } from './request-body.ts';

const defaultMaxBodyValues = 50_000;

/** The body of an HTTP request. The connection is read when it is needed: most requests have none. */
export class HttpBody implements Body {
  readonly #ctx: Context;
  readonly readInput: Body['readInput'];

  constructor(ctx: Context, readInput: Body['readInput']) {
    this.#ctx = ctx;
    this.readInput = readInput;
  }

  get isPresent(): boolean {
    return this.#bytes.isPresent;
  }

  get announcedBytes(): number {
    return this.#bytes.announcedBytes;
  }

  takeBuffered(): Buffer | null {
    return this.#bytes.takeBuffered();
  }

  receive(limits: ArrivalLimits, reservation: ByteReservation, take: TakePiece): Promise<Arrival> {
    return this.#bytes.receive(limits, reservation, take);
  }

  get #bytes(): BodyBytes {
    return new ConnectionBody(this.#ctx);
  }
}

export class OperationInputReader {
  readonly #readBody: ReturnType<typeof jsonBodyReader>;
  readonly #known = new Map<OperationRoute, KnownInput>();

  constructor(maxBodyBytes: number, maxBodyValues = defaultMaxBodyValues) {
    this.#readBody = jsonBodyReader(maxBodyBytes, maxBodyValues);
  }

  async read(
    context: RequestContext,
    route: OperationRoute,
    parameters: Request['parameters'],
  ): Promise<E.Either<Failure, RequestInput>> {
    const { ctx, query } = context;
    if (!route.hasBody) {
      const unknown = query === '' ? [] : this.#unknownInput(context, route, {});
      const fields = query === '' ? E.right({}) : readQueryParameters(query, route.members);
      if (E.isLeft(fields)) return fields;
      // Only a request that writes is remembered by its hash.
      const bodyHash = route.isWriting ? hashOf(noBytes, withoutDryRun(query)) : '';
      return E.right({ fields: { ...fields.right, ...parameters }, unknown, bodyHash, bytes: 0 });
    }
    const body = await this.#readBody(ctx, context.held);
    if (E.isLeft(body)) return body;
    const { members, bytes } = body.right;
    const inexact = route.operation.plane === 'control' ? numberNotExact(await inexactIntegers(bytes)) : null;
    if (inexact !== null) return E.left(inexact);
    const unknown = this.#unknownInput(context, route, members);
    const fields = { ...known(members, route.members), ...parameters };
    return E.right({ fields, unknown, bodyHash: hashOf(bytes, withoutDryRun(query)), bytes: bytes.length });
  }

  /**
   * The unknown parts of the input, which a header of the answer names.
   * @returns a fault for each, if the request prefers strict handling; else none
   */
  #unknownInput(context: RequestContext, route: OperationRoute, body: JsonObject): ReadonlyArray<InputError> {
    const unknown = unknownInput(this.#knownInput(route), context.query, body);
    if (unknown.length === 0 || isStrict(context.ctx.req.headers)) return unknown;
    context.ignoredHeaders = ['Switchyard-Ignored', ignoredMembers(unknown)];
    return [];
  }

  #knownInput(route: OperationRoute): KnownInput {
    const known = this.#known.get(route);
    if (known !== undefined) return known;
    const made = knownInputOf(route);
    this.#known.set(route, made);
    return made;
  }
}

const noBytes = Buffer.alloc(0);
const hashOfNothing = hash('sha256', noBytes);

function hashOf(bytes: Buffer, query: string): string {
  if (query === '') return bytes.length === 0 ? hashOfNothing : hash('sha256', bytes);
  return hash('sha256', Buffer.concat([bytes, Buffer.from(`?${query}`)]));
}

/** The known members. Others of a body (for example `__proto__`) never reach a codec. */
function known(members: JsonObject, names: ReadonlySet<string>): JsonObject {
  const found: Record<string, Json | undefined> = {};
  for (const name of names) if (Object.hasOwn(members, name)) found[name] = members[name];
  return found;
}

/** Reads query parameters as texts. Unknown ones are ignored. @returns invalid-input when one is given twice */
export function readQueryParameters(query: string, known: ReadonlySet<string>): E.Either<Failure, JsonObject> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.has(name)) continue;
    if (fields.has(name)) return E.left(invalidInput([{ pointer: `/${name}`, message: 'must be given once' }]));
    fields.set(name, value);
  }
  return E.right(Object.fromEntries(fields));
}

interface KnownInput {
  readonly query: ReadonlySet<string>;
  /** The body; null for an operation without one. */
  readonly body: JsonObject | null;
}

function knownInputOf({ operation, members, isWriting, hasBody }: OperationRoute): KnownInput {
  const inPath = new Set(pathParameters(operation.http.path));
  const query = hasBody ? [] : [...members].filter((name) => !inPath.has(name));
  return {
    query: new Set(isWriting ? [...query, 'dryRun'] : query),
    body: hasBody ? bodySchema(operation) : null,
  };
}

function unknownInput(known: KnownInput, query: string, body: JsonObject): ReadonlyArray<InputError> {
  const parameters = query === '' ? [] : unknownParameters(query, known.query);
  return [...parameters, ...unknownMembers(known.body, body)];
}
