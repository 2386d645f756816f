import { type Layer, Router } from '@koa/router';
import type { Context } from 'koa';

export type Handler = (ctx: Context, parameters: Readonly<Record<string, string>>) => Promise<void>;

/** The method in upper case (GET answers HEAD too), and a path with `:name` for parameters. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly handler: Handler;
}

export interface RequestRouter {
  /** @returns when it has answered; null if no route matches */
  readonly handle: (ctx: Context, path: string) => Promise<void> | null;
  /** What the path accepts; nothing for an unknown path. */
  readonly accepted: (path: string) => Accepted;
}

/** What a path accepts, as @koa/router knows it. */
interface Accepted {
  readonly methods: ReadonlyArray<string>;
  /** The paths with `:name` for parameters. */
  readonly routes: ReadonlyArray<string>;
}

interface IndexedRoute {
  readonly layer: Layer;
  readonly handler: Handler;
}

/**
 * @koa/router alone tries all routes of the service, which takes a tenth of the time of a `GET`. Therefore an index
 *   finds the few that begin like the path.
 * @param unserved paths that match no route, although one with a parameter has their form
 * @throws Error when a path has a parameter in its beginning
 */
export function createRouter(routes: ReadonlyArray<Route>, unserved: ReadonlySet<string> = new Set()): RequestRouter {
  const router = new Router({ strict: true, sensitive: true });
  const index = new Map<string, IndexedRoute[]>();
  for (const { method, path, handler } of routes) {
    const beginning = beginningOf(path);
    if (beginning.includes(':')) throw new Error(`The first two segments of ${path} must be fixed`);
    const layer = router.register(path, [method], []) as Layer;
    index.set(beginning, [...(index.get(beginning) ?? []), { layer, handler }]);
  }

  return {
    handle: (ctx, path) => {
      if (unserved.has(path)) return null;
      const method = ctx.req.method ?? '';
      const fits = ({ layer }: IndexedRoute) => layer.methods.includes(method) && layer.match(path);
      const found = index.get(beginningOf(path))?.find(fits);
      return found === undefined ? null : found.handler(ctx, found.layer.params(path, found.layer.captures(path)));
    },
    accepted: (path) => {
      const layers = unserved.has(path) ? [] : router.match(path, '').path;
      const methods = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
      return { methods, routes: layers.map((layer) => String(layer.path)) };
    },
  };
}

const twoSegments = /^\/[^/]+\/[^/]+/;

/** The first two segments, or a shorter path: `/v1/flows` for `/v1/flows/:flowId/versions`. */
function beginningOf(path: string): string {
  return twoSegments.exec(path)?.[0] ?? path;
}
