import { Router, type RouterContext } from '@koa/router';
import type { Context } from 'koa';

/** Answers a request whose path and method fit. */
export type Handler = (ctx: Context, parameters: Readonly<Record<string, string>>) => Promise<void>;

/** A method (upper case; GET answers HEAD too), a path with `:name` for parameters, and its handler. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly handler: Handler;
}

/** Finds the handler of a request. */
export interface RequestRouter {
  /** Calls the matching route. @returns when it has answered; null if no route matches */
  readonly handle: (ctx: Context, path: string) => Promise<void> | null;
  /** Returns the methods that a path accepts; empty for an unknown path. */
  readonly allowed: (path: string) => ReadonlyArray<string>;
}

const options = { strict: true, sensitive: true } as const;

/**
 * Routes by two tables. One has the routes whose path is fixed. In the other each method and shape of path (first two
 * segments and number of segments) has a short list of routes, whose segments are compared. A path with an escaped
 * character is left to @koa/router, which decodes it.
 * @throws Error when a path has a parameter among its first two segments
 */
export function createRouter(lines: ReadonlyArray<Route>): RequestRouter {
  const everything = new Router(options);
  const table = new Map<string, TableRoute[]>();
  const fixed = new Map<string, Map<string, FoundRoute>>();
  for (const { method, path, handler } of lines) {
    const shape = `${method} ${shapeOf(path)}`;
    if (shape.includes(':')) throw new Error(`The first two segments of ${path} must be fixed`);
    table.set(shape, [...(table.get(shape) ?? []), tableRoute(path, handler)]);
    const ofMethod = fixed.get(method) ?? new Map<string, FoundRoute>();
    fixed.set(method, ofMethod);
    // An earlier route with a parameter comes first, as in @koa/router.
    const first = findRoute(table.get(shape) ?? [], path);
    if (first !== null && !path.includes(':')) ofMethod.set(path, first);
    everything.register(path, [method], (ctx: RouterContext) => handler(ctx, ctx.params));
  }
  const routeEscaped = everything.routes();

  return {
    handle: (ctx, path) => {
      const method = ctx.req.method === 'HEAD' ? 'GET' : (ctx.req.method ?? '');
      if (path.includes('%'))
        return everything.match(path, method).route ? routeEscaped(ctx as RouterContext, end) : null;
      const found = fixed.get(method)?.get(path) ?? findRoute(table.get(`${method} ${shapeOf(path)}`) ?? [], path);
      return found === null ? null : found.handler(ctx, found.parameters);
    },
    allowed: (path) => [...new Set(everything.match(path, 'GET').path.flatMap((layer) => layer.methods))].sort(),
  };
}

/** The end of @koa/router's chain, which a route never passes on to. */
const end = async () => undefined;

/** A route whose path is compared segment by segment. */
interface TableRoute {
  /** From the third on. The shape has the first two. */
  readonly segments: ReadonlyArray<RouteSegment>;
  readonly handler: Handler;
}

interface RouteSegment {
  /** The name of a parameter, or else the text of the segment. */
  readonly text: string;
  readonly isParameter: boolean;
}

function tableRoute(path: string, handler: Handler): TableRoute {
  const segments = path
    .split('/')
    .slice(fixedSegments)
    .map((segment) => {
      const isParameter = segment.startsWith(':');
      return { text: isParameter ? segment.slice(1) : segment, isParameter };
    });
  return { segments, handler };
}

interface FoundRoute {
  readonly handler: Handler;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Returns the first of some routes of the same shape that a path fits, as @koa/router does. */
function findRoute(routes: ReadonlyArray<TableRoute>, path: string): FoundRoute | null {
  const segments = path.split('/');
  for (const { segments: expected, handler } of routes) {
    const parameters = parametersIn(expected, segments);
    if (parameters !== null) return { handler, parameters };
  }
  return null;
}

/** Returns the parameters in the segments of a path; null if the route expects others. A parameter is never empty. */
function parametersIn(
  expected: ReadonlyArray<RouteSegment>,
  segments: ReadonlyArray<string>,
): Readonly<Record<string, string>> | null {
  const parameters: Record<string, string> = {};
  let index = fixedSegments;
  for (const { text, isParameter } of expected) {
    const segment = segments[index] ?? '';
    if (isParameter ? segment === '' : segment !== text) return null;
    if (isParameter) parameters[text] = segment;
    index += 1;
  }
  return parameters;
}

/** The parts of a path before what is compared: nothing before the first slash, and two segments. */
const fixedSegments = 3;

/** `/v1/flows4` for `/v1/flows/:flowId/versions`: its first two segments and how many there are. */
function shapeOf(path: string): string {
  let segments = 0;
  let end = path.length;
  for (let index = 0; index < path.length; index += 1) {
    if (path.charCodeAt(index) !== 0x2f) continue;
    segments += 1;
    if (segments === 3) end = index;
  }
  return path.slice(0, end) + segments;
}
