import type { Context } from 'koa';
import type { ByteHold } from '#application/access/byte-budget.ts';
import type { Plane, RelayReport } from '#application/operations/operation.ts';
import { requestIdOf } from '#http/request/request-headers.ts';

/** What is known of a request while it is answered. */
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
  /** The path of the operation, with `{name}` for parameters; null where there is none. */
  pathTemplate: string | null;
  /** Why it was refused, as its answer says it; null where it was not. */
  code: string | null;
  /** What became of a call that the gateway relayed. */
  relayed: RelayReport | null;
  keyId: string | null;
  /** The bytes of its body; null until it is known whose they are. */
  body: ByteHold | null;
  /** Headers that say what is left under the rate limit, names and values in turn; none where there is no limit. */
  limitFields: ReadonlyArray<string>;
}

/** What is known of a request when it comes in. */
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
