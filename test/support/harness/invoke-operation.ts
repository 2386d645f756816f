import * as E from 'fp-ts/lib/Either.js';
import { createInvoke } from '#application/operations/invoke.ts';
import type { Operation } from '#application/operations/operation.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import { createRoutes, type OperationRoute } from '#application/operations/registry.ts';
import type { RequestHeaders } from '#application/operations/request-headers.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { MemoryBody, noInput, type RequestInput } from '#exchange/body.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { requestOf } from './request-of.ts';

/** A request of a test to an operation. Every member has a default. */
export interface OperationInvocation extends Partial<Omit<RequestHeaders, 'fault'>> {
  /** Default: an admin. */
  readonly caller?: Caller;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly requestTarget?: string;
  /** Default: a request without a body. */
  readonly loadBody?: () => Promise<E.Either<Failure, RequestInput>>;
}

/** Cached for each operation, because creating a route takes longer than invoking the operation. */
const routes = new WeakMap<Operation, OperationRoute>();

function routeOf(operation: Operation): OperationRoute {
  const route = routes.get(operation) ?? (createRoutes([operation])[0] as OperationRoute);
  routes.set(operation, route);
  return route;
}

/** The headers by which a client asks for the same. */
function headersOf({ ifMatch, idempotencyKey, minPosition, onBehalfOf, accept }: Omit<OperationInvocation, 'caller'>) {
  return {
    ...(typeof ifMatch === 'number' ? { 'if-match': `"${ifMatch}"` } : {}),
    ...(typeof idempotencyKey === 'string' ? { 'idempotency-key': idempotencyKey } : {}),
    ...(typeof minPosition === 'number' ? { 'switchyard-min-position': String(minPosition) } : {}),
    ...(onBehalfOf === undefined ? {} : { 'switchyard-on-behalf-of': onBehalfOf }),
    ...(accept === undefined ? {} : { accept }),
  };
}

/** Invokes one operation through the pipeline that all callers share. Rejects with the error that the operation throws. */
export async function invokeOperation(
  operation: Operation,
  {
    caller = callerOf('admin'),
    parameters = {},
    requestTarget,
    loadBody,
    dryRun,
    ...headers
  }: OperationInvocation = {},
): Promise<E.Either<Failure, OperationResult>> {
  let thrown: { readonly error: unknown } | null = null;
  const guarded: Operation = {
    ...operation,
    execute: (request) =>
      operation.execute(request).catch((error: unknown) => {
        thrown = { error };
        throw error;
      }),
  };
  const route = { ...routeOf(operation), operation: guarded };
  const ignore = () => undefined;
  const invoke = createInvoke({
    authenticate: async () => caller,
    admission: null,
    metrics: { command: ignore },
    logger: { info: ignore, warn: ignore, error: ignore },
  });
  const request = requestOf({
    caller,
    operation: operation.name,
    target: requestTarget ?? `${operation.http.method} ${operation.http.path} ${JSON.stringify(parameters)}`,
    parameters,
    query: dryRun === true ? 'dryRun=true' : '',
    headers: headersOf(headers),
    body: new MemoryBody(Buffer.alloc(0), loadBody ?? (async () => E.right({ ...noInput, fields: parameters }))),
  });
  const entrance = { presentedKey: 'key', sessionToken: null, keyFault: null, takePlace: null };
  const { outcome } = await invoke(E.right(route), request, entrance);
  if (thrown !== null) throw (thrown as { readonly error: unknown }).error;
  if (E.isLeft(outcome)) return outcome;
  if (outcome.right === null || 'kind' in outcome.right) throw new Error(`${operation.name} did not answer`);
  return E.right(outcome.right);
}
