import type { Context } from 'koa';
import type { ByteHold } from '#application/access/byte-budget.ts';
import type { Plane } from '#application/operations/operation.ts';
import { requestIdOf } from '#http/request/request-headers.ts';

/** What is known of a request while it is answered. */
export interface RequestContext {
  readonly ctx: Context;
  readonly requestId: string;
  readonly path: string;
  readonly query: string;
  readonly started: number;
  plane: Plane;
  /** Clients of either plane ask this: an error is told in the shapes of both. */
  onBothPlanes: boolean;
  hasBody: boolean;
  /** The operation's name, for logs and metrics: never the path. */
  name: string;
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
    keyId: null,
    body: null,
    limitFields: [],
  };
}
