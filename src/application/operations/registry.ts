import type { FailureCode } from '#domain/shared/failure.ts';
import { jsonSchema, members } from './json-schema.ts';
import { type AnyOperation, isWriting } from './operation.ts';

/** What adapters need of an operation, computed once. */
export interface OperationRoute {
  readonly operation: AnyOperation;
  /** Upper case, as in a request. */
  readonly method: string;
  /** Path parameters that are ids: an invalid id gets the same answer as an unknown one. */
  readonly idParameters: ReadonlyArray<{ readonly name: string; readonly pattern: RegExp }>;
  /** The failure for an ill-formed id. */
  readonly notFound: FailureCode;
  /** The members of the input. Others in a request are ignored. */
  readonly members: ReadonlySet<string>;
  /** It may change something, and so can be tried as a dry run. */
  readonly isWriting: boolean;
  /** The input comes from a body; otherwise it only comes from the query. */
  readonly hasBody: boolean;
  /** The path of created resources: without the id, and with `:name` for each parameter. */
  readonly createdUnder: string | null;
  /** The member of the answer that holds the created id. */
  readonly createdId: string;
}

/** @throws Error if two operations share a method and path, or a path parameter is not a member of the input */
export function createRoutes(operations: ReadonlyArray<AnyOperation>): ReadonlyArray<OperationRoute> {
  const lines = new Set<string>();
  return operations.map((operation) => {
    const line = `${operation.http.method} ${operation.http.path.replace(/:\w+/g, ':')}`;
    if (lines.has(line)) throw new Error(`Two operations answer ${operation.http.method} ${operation.http.path}`);
    lines.add(line);
    return routeOf(operation, operations);
  });
}

function routeOf(operation: AnyOperation, operations: ReadonlyArray<AnyOperation>): OperationRoute {
  const { method, path } = operation.http;
  const inputs = members(jsonSchema(operation.input));
  const names = new Set(Object.keys(inputs));
  const parameters = pathParameters(path);
  for (const name of parameters) {
    if (!names.has(name))
      throw new Error(`${operation.name}: the path parameter "${name}" is not a member of its input`);
  }
  return {
    operation,
    method: method.toUpperCase(),
    idParameters: parameters.flatMap((name) => {
      const pattern = inputs[name]?.pattern;
      return typeof pattern === 'string' ? [{ name, pattern: new RegExp(pattern) }] : [];
    }),
    notFound: operation.failures.find((code) => code.endsWith('-not-found')) ?? 'path-not-found',
    members: names,
    isWriting: isWriting(operation),
    hasBody: method === 'post' || method === 'put' || method === 'patch',
    createdUnder: createdUnder(operation, operations),
    createdId: createdId(operation),
  };
}

/** The parameters in order: `flowId` for `/v1/flows/:flowId`. */
export function pathParameters(path: string): ReadonlyArray<string> {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
}

/** The path without ids; null for an operation that creates nothing. OpenAI's creations answer 200 instead of 201. */
export function createdUnder(
  { http: { method, path, status } }: AnyOperation,
  operations: ReadonlyArray<AnyOperation>,
): string | null {
  if (method !== 'post') return null;
  const place = placeOfItems(path, operations);
  return status === 201 || place === `${path}/` ? place : null;
}

/**
 * `/v1/projects/:projectId/flows` creates items of `/v1/flows/:flowId`, `/v1/flows/:flowId/versions` those of
 * `/v1/flow-versions/:versionId`, and `/v1/partner/customers` those directly below it.
 */
export function placeOfItems(collection: string, operations: ReadonlyArray<AnyOperation>): string | null {
  const segments = collection.split('/').filter((segment) => segment !== '' && !segment.startsWith(':'));
  const [version, parent] = [segments[0], segments.at(-2)];
  const last = segments.at(-1);
  const child = `${parent?.replace(/s$/, '')}-${last}`;
  const places = [`${collection}/`, ...[child, last, parent].map((name) => `/${version}/${name}/`)];
  const read = operations
    .filter((operation) => operation.http.method === 'get')
    .map((operation) => operation.http.path);
  const isPlace = (place: string) =>
    read.some((path) => path.startsWith(`${place}:`) && !path.includes('/', place.length));
  return places.find(isPlace) ?? null;
}

/** Usually `id`, but a customer has its organization's id. */
export function createdId({ output }: AnyOperation): string {
  const names = output === null ? [] : Object.keys(members(jsonSchema(output)));
  return names.includes('id') ? 'id' : (names.find((name) => name.endsWith('Id')) ?? 'id');
}
