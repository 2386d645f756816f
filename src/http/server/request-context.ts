import type { Context } from 'koa';
import type { ByteHold } from '#application/access/byte-budget.ts';
import type { Plane, RelayReport } from '#application/operations/operation.ts';
import { requestIdOf } from '#http/request/request-headers.ts';
import type { OpenAnswers } from '#http/response/open-answers.ts';

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
  /** The caller's home project; null until the caller is known. */
  projectId: string | null;
  /** The bytes of its body; null until the caller is known. */
  body: ByteHold | null;
  /** The bytes of an answer that is held until it is whole; null without one. */
  wholeAnswer: ByteHold | null;
  /** Ends the use of its place among the answers of its project that are made; null without a place. */
  leavePlace: (() => void) | null;
  /** Follows its answer while bytes of it wait for the client; null if its bytes are not counted. */
  readonly openAnswers: OpenAnswers | null;
  /** Headers with the rest of the rate limit, names and values in turn; empty without a limit. */
  limitFields: ReadonlyArray<string>;
}

/** Makes the context of a request that has just arrived. */
export function createRequestContext(ctx: Context, openAnswers: OpenAnswers | null = null): RequestContext {
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
    projectId: null,
    body: null,
    wholeAnswer: null,
    leavePlace: null,
    openAnswers,
    limitFields: [],
  };
}

/** The context that `createRequestContext` made for a request, which is Koa's state of it. */
export function requestContextOf(ctx: Context): RequestContext {
  return ctx.state as RequestContext;
}
