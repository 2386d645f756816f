import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { InvokeAs } from '#application/operations/invoke.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import { type OperationRoute, pathParameters } from '#application/operations/registry.ts';
import { checkIdempotencyKey } from '#application/operations/request-headers.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { MemoryBody, type RequestInput } from '#exchange/body.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { Request } from '#exchange/request.ts';
import { canonicalJson, type Json, type JsonObject } from '#shared/json/json.ts';
import type { McpRequest } from './mcp-request.ts';

export const maxMcpPageBytes = 256 * 1024;

export type AskOperation = (
  mcpRequest: McpRequest,
  route: OperationRoute,
  given: JsonObject,
) => Promise<E.Either<Failure, OperationResult>>;

/**
 * The arguments `idempotencyKey`, `ifMatch` and `dryRun`, which are not in the operation's input, take the place of
 * headers.
 */
export function createAskOperation(invokeAs: InvokeAs): AskOperation {
  return async ({ request, inputFault }, route, given) => {
    const parameters = readParameters(route, given);
    if (E.isLeft(parameters)) return parameters;
    const asked = headersOf(route, given);
    if (E.isLeft(asked)) return asked;
    const readInput = async () =>
      inputFault === null ? E.right(inputOf(route, given, parameters.right)) : E.left(inputFault);
    const outcome = await invokeAs(E.right(route), {
      ...request,
      ...asked.right,
      operation: route.operation.name,
      target: `${route.method} ${pathOf(route, parameters.right)}`,
      parameters: parameters.right,
      body: new MemoryBody(noBytes, readInput),
      maxPageBytes: maxMcpPageBytes,
    });
    if (E.isLeft(outcome)) return outcome;
    if (outcome.right === null) throw new ClientDisconnectedError('The client left before its call was answered.');
    if (!('body' in outcome.right)) throw new Error(`${route.operation.name} is not a tool`);
    return E.right(outcome.right as OperationResult);
  };
}

function readParameters(
  { operation }: OperationRoute,
  given: JsonObject,
): E.Either<Failure, Readonly<Record<string, string>>> {
  const parameters: Record<string, string> = {};
  for (const name of pathParameters(operation.http.path)) {
    const value = own(given, name);
    if (typeof value !== 'string') {
      const message = value === undefined ? 'is required' : 'must be a string';
      return E.left(invalidInput([{ pointer: `/${name}`, message }]));
    }
    parameters[name] = value;
  }
  return E.right(parameters);
}

/** The headers from the arguments in place of headers, and from `dryRun`, as a request has them. */
function headersOf(
  { operation }: OperationRoute,
  given: JsonObject,
): E.Either<Failure, Pick<Request, 'headers' | 'query'>> {
  if (operation.kind === 'query') return E.right({ headers: {}, query: '' });
  const [ifMatch, idempotencyKey] = [own(given, 'ifMatch') ?? null, own(given, 'idempotencyKey') ?? null];
  if (ifMatch !== null && !(Number.isSafeInteger(ifMatch) && (ifMatch as number) >= 0)) {
    return E.left(invalidInput([{ pointer: '/ifMatch', message: 'must be a revision: a whole number' }]));
  }
  if (idempotencyKey !== null && checkIdempotencyKey(idempotencyKey) !== null) {
    const message = 'must be 1 to 255 printable ASCII characters';
    return E.left(invalidInput([{ pointer: '/idempotencyKey', message }]));
  }
  const dryRun = own(given, 'dryRun') ?? false;
  if (typeof dryRun !== 'boolean') {
    return E.left(invalidInput([{ pointer: '/dryRun', message: 'must be true or false' }]));
  }
  return E.right({
    headers: {
      ...(ifMatch === null ? {} : { 'if-match': `"${ifMatch}"` }),
      ...(idempotencyKey === null ? {} : { 'idempotency-key': String(idempotencyKey) }),
    },
    query: dryRun ? 'dryRun=true' : '',
  });
}

/** The input as a body or a query string would contain it. In a query string every value is a text. */
function inputOf(route: OperationRoute, given: JsonObject, parameters: Readonly<Record<string, string>>): RequestInput {
  const fields: Record<string, Json | undefined> = {};
  for (const name of route.members) {
    const value = own(given, name);
    if (value === undefined || Object.hasOwn(parameters, name)) continue;
    fields[name] = route.hasBody ? value : textOf(value);
  }
  const text = canonicalJson(fields);
  return {
    fields: { ...fields, ...parameters },
    unknown: [],
    bodyHash: hash('sha256', text),
    bytes: Buffer.byteLength(text),
  };
}

function textOf(value: Json): Json {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

function pathOf({ operation }: OperationRoute, parameters: Readonly<Record<string, string>>): string {
  return operation.http.path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(parameters[name] ?? ''));
}

/** The member's own value. An inherited one, such as `__proto__`, is not an argument. */
function own(given: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

/** No bytes: the arguments are the input, and no tool takes bytes. */
const noBytes = Buffer.alloc(0);
