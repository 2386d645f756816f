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
  /** Calls the matching route; false if there is none. */
  readonly handle: (ctx: Context, path: string) => Promise<boolean>;
  /** Returns the methods that a path accepts; empty for an unknown path. */
  readonly allowed: (path: string) => ReadonlyArray<string>;
}

const options = { strict: true, sensitive: true } as const;

const noParameters: Readonly<Record<string, string>> = {};

/**
 * Routes by a table: each method and shape of path (first two segments and number of segments) has a short list of routes,
 * whose segments are compared. A path with an escaped character is left to @koa/router, which decodes it.
 * @throws Error when a path has a parameter among its first two segments
 */
export function createRouter(lines: ReadonlyArray<Route>): RequestRouter {
  const everything = new Router(options);
  const table = new Map<string, TableRoute[]>();
  for (const { method, path, handler } of lines) {
    const shape = `${method} ${shapeOf(path)}`;
    if (shape.includes(':')) throw new Error(`The first two segments of ${path} must be fixed`);
    table.set(shape, [...(table.get(shape) ?? []), tableRoute(path, handler)]);
    everything.register(path, [method], (ctx: RouterContext) => handler(ctx, ctx.params));
  }
  const routeEscaped = everything.routes();

  return {
    handle: async (ctx, path) => {
      const method = ctx.req.method === 'HEAD' ? 'GET' : ctx.req.method;
      if (!path.includes('%')) {
        const found = findRoute(table.get(`${method} ${shapeOf(path)}`) ?? [], path);
        if (found === null) return false;
        await found.handler(ctx, found.parameters);
        return true;
      }
      let found = true;
      await routeEscaped(ctx as RouterContext, async () => {
        found = false;
      });
      return found;
    },
    allowed: (path) => [...new Set(everything.match(path, 'GET').path.flatMap((layer) => layer.methods))].sort(),
  };
}

/** A route whose path is compared segment by segment. */
interface TableRoute {
  readonly path: string;
  /** From the third on; a parameter is null. */
  readonly segments: ReadonlyArray<string | null>;
  /** The names of the parameters, in order. */
  readonly names: ReadonlyArray<string>;
  readonly handler: Handler;
}

function tableRoute(path: string, handler: Handler): TableRoute {
  const segments = segmentsOf(path);
  return {
    path,
    segments: segments.map((segment) => (segment.startsWith(':') ? null : segment)),
    names: segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1)),
    handler,
  };
}

/** Returns the first of some routes of the same shape that a path fits, as @koa/router does. */
function findRoute(routes: ReadonlyArray<TableRoute>, path: string): FoundRoute | null {
  let segments: ReadonlyArray<string> | null = null;
  for (const route of routes) {
    if (route.names.length === 0 && route.path !== path) continue;
    if (route.names.length === 0) return { handler: route.handler, parameters: noParameters };
    segments ??= segmentsOf(path);
    const parameters = parametersIn(route, segments);
    if (parameters !== null) return { handler: route.handler, parameters };
  }
  return null;
}

interface FoundRoute {
  readonly handler: Handler;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Returns the parameters of a path that fits a route; null for another path. A parameter is never empty. */
function parametersIn(route: TableRoute, segments: ReadonlyArray<string>): Readonly<Record<string, string>> | null {
  const parameters: Record<string, string> = {};
  let count = 0;
  for (const [index, segment] of segments.entries()) {
    const expected = route.segments[index];
    if (expected !== null && expected !== segment) return null;
    if (expected !== null) continue;
    if (segment === '') return null;
    parameters[route.names[count] ?? ''] = segment;
    count += 1;
  }
  return parameters;
}

/** Returns the segments of a path after its first two. */
function segmentsOf(path: string): ReadonlyArray<string> {
  return path.split('/').slice(3);
}

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
