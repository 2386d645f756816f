import type { Context } from 'koa';
import type { ByteHold } from '#application/access/byte-budget.ts';
import type { Plane, RelayReport } from '#application/operations/operation.ts';
import { requestIdOf } from '#http/request/request-headers.ts';

/** The data of a request while it is answered. */
export interface RequestContext {
  readonly ctx: Context;
  readonly requestId: string;
  readonly path: string;
  readonly query: string;
  readonly started: number;
  plane: Plane;
  /** Clients of both planes call this path, so an error has the members of both forms. */
  onBothPlanes: boolean;
  hasBody: boolean;
  /** The operation's name, for logs and metrics: never the path. */
  name: string;
  /** The path of the operation, with `{name}` for parameters; null without an operation. */
  pathTemplate: string | null;
  /** The code of its refusal; null if it was not refused. */
  code: string | null;
  /** The result of a call that the gateway relayed. */
  relayed: RelayReport | null;
  keyId: string | null;
  /** The bytes of its body; null until the caller is known. */
  body: ByteHold | null;
  /** Headers with the rest of the rate limit, names and values in turn; empty without a limit. */
  limitFields: ReadonlyArray<string>;
}

/** Makes the context of a request that has just arrived. */
export function createRequestContext(ctx: Context): RequestContext {
  const url = ctx.req.url ?? '/';
  const mark = url.indexOf('?');
  return {
    ctx,
    requestId: requestIdOf(ctx.req.headers),
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    started: performance.now(),
    plane: 'control',
    onBothPlanes: false,
    hasBody: true,
    name: 'unknown',
    pathTemplate: null,
    code: null,
    relayed: null,
    keyId: null,
    body: null,
    limitFields: [],
  };
}

/** The context that `createRequestContext` made for a request, which is Koa's state of it. */
export function requestContextOf(ctx: Context): RequestContext {
  return ctx.state as RequestContext;
}
