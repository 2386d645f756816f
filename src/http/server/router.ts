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
 * Routes by @koa/router. It tries its routes one after the other, so each method and shape of path (first two segments
 * and number of segments) has a small router of its own, picked from a map. A path without parameters needs none.
 * @throws Error when a path has a parameter among its first two segments
 */
export function createRouter(lines: ReadonlyArray<Route>): RequestRouter {
  const everything = new Router(options);
  const routers = new Map<string, Router>();
  const fixed = new Map<string, Handler>();
  for (const { method, path, handler } of lines) {
    const shape = `${method} ${shapeOf(path)}`;
    if (shape.includes(':')) throw new Error(`The first two segments of ${path} must be fixed`);
    const router = routers.get(shape) ?? new Router(options);
    routers.set(shape, router);
    if (!path.includes(':') && !fixed.has(`${method} ${path}`)) fixed.set(`${method} ${path}`, handler);
    const answer = (ctx: RouterContext) => handler(ctx, ctx.params);
    for (const each of [router, everything]) each.register(path, [method], answer);
  }
  const routes = new Map([...routers].map(([shape, router]) => [shape, router.routes()]));

  return {
    handle: async (ctx, path) => {
      const method = ctx.req.method === 'HEAD' ? 'GET' : ctx.req.method;
      const handler = fixed.get(`${method} ${path}`);
      if (handler !== undefined) {
        await handler(ctx, noParameters);
        return true;
      }
      const route = routes.get(`${method} ${shapeOf(path)}`);
      if (route === undefined) return false;
      let found = true;
      await route(ctx as RouterContext, async () => {
        found = false;
      });
      return found;
    },
    allowed: (path) => [...new Set(everything.match(path, 'GET').path.flatMap((layer) => layer.methods))].sort(),
  };
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
