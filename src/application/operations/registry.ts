import type { FailureCode } from '#domain/shared/failure.ts';
import { jsonSchema, members } from './json-schema.ts';
import type { AnyOperation } from './operation.ts';

/** The facts that adapters need about an operation, computed once. */
export interface OperationRoute {
  readonly operation: AnyOperation;
  /** Upper case, as in a request. */
  readonly method: string;
  /** Path parameters that are ids: an invalid id gets the same answer as an unknown one. */
  readonly idParameters: ReadonlyArray<{ readonly name: string; readonly pattern: RegExp }>;
  /** The failure that an ill-formed id answers. */
  readonly notFound: FailureCode;
  /** The members of the input: others in a request are ignored. */
  readonly members: ReadonlySet<string>;
  /** Whether the input comes from a body; otherwise from the query alone. */
  readonly hasBody: boolean;
  /** Where what the operation creates can be read: this, then its id. Null when there is no such place. */
  readonly createdUnder: string | null;
  /** The member of the answer that holds that id. */
  readonly createdId: string;
}

/**
 * The HTTP routes of operations.
 * @throws Error when two operations share a method and path, or a path parameter is no member of the input
 */
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
    if (!names.has(name)) throw new Error(`${operation.name}: the path parameter "${name}" is no member of its input`);
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
    hasBody: method === 'post' || method === 'put' || method === 'patch',
    createdUnder: operation.http.status === 201 ? createdUnder(path, operations) : null,
    createdId: createdId(operation),
  };
}

/** The names of a path's parameters, in order: `flowId` for `/v1/flows/:flowId`. */
export function pathParameters(path: string): ReadonlyArray<string> {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
}

/**
 * The path under which a collection's items are read: `/v1/projects/:projectId/flows` creates what
 * `/v1/flows/:flowId` gives, `/v1/flows/:flowId/versions` what `/v1/flow-versions/:versionId` gives, and
 * `/v1/partner/customers` what is directly under it.
 */
export function createdUnder(collection: string, operations: ReadonlyArray<AnyOperation>): string | null {
  const segments = collection.split('/').filter((segment) => segment !== '' && !segment.startsWith(':'));
  const [version, parent] = [segments[0], segments.at(-2)];
  const last = segments.at(-1);
  const child = `${parent?.replace(/s$/, '')}-${last}`;
  const places = [`${collection}/`, ...[child, last, parent].map((name) => `/${version}/${name}/`)];
  const read = operations
    .filter((operation) => operation.http.method === 'get')
    .map((operation) => operation.http.path);
  return (
    places.find(
      (place) =>
        !place.includes(':') && read.some((path) => path.startsWith(`${place}:`) && !path.includes('/', place.length)),
    ) ?? null
  );
}

/** The member of an answer that holds the id: `id`, but for what is known by another's id: a customer by its organization's. */
export function createdId({ output }: AnyOperation): string {
  const names = output === null ? [] : Object.keys(members(jsonSchema(output)));
  return names.includes('id') ? 'id' : (names.find((name) => name.endsWith('Id')) ?? 'id');
}
