import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Router, type RouterContext } from '@koa/router';
import fc from 'fast-check';
import Koa, { type Context } from 'koa';
import { dashboardRoutes } from '#dashboard/dashboard-routes.ts';
import { docsRoutes } from '#http/docs/docs-routes.ts';
import { createRequestContext } from '#http/request/request-context.ts';
import { digestKeysRoute } from '#http/routes/digest-keys.ts';
import { healthRoutes, metricsRoute } from '#http/routes/health.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import pathsOfPlanes from '#http/routes/paths-of-planes.json' with { type: 'json' };
import { createRouter, type Route } from '#http/routes/router.ts';
import { sessionRoutes } from '#http/routes/session-routes.ts';
import { allOperations } from '#test/support/openapi/all-operations.ts';

interface Answered {
  readonly status: number;
  /** Null where no route matches. */
  readonly route: string | null;
  readonly parameters: Readonly<Record<string, string>>;
  readonly allow: ReadonlyArray<string>;
}

type Line = Pick<Route, 'method' | 'path'>;

describe('A router', () => {
  const lines: ReadonlyArray<Line> = [
    ...allOperations().map(({ http: { method, path } }) => ({ method: method.toUpperCase(), path })),
    { method: 'POST', path: '/mcp' },
    { method: 'GET', path: '/v1/events' },
    { method: 'POST', path: '/v1/digests' },
    { method: 'POST', path: '/v1/usage/archives' },
    ...healthRoutes('', async () => []),
    metricsRoute(createMetrics()),
    ...docsRoutes({ operations: [], version: '' }),
    ...dashboardRoutes(),
    ...sessionRoutes({} as never),
    digestKeysRoute([]),
  ];
  const askService = serviceOf(lines);
  const askKoa = koaOf(lines);

  async function compare(method: string, url: string): Promise<void> {
    assert.deepEqual(await askService(method, url), await askKoa(method, url), `${method} ${url}`);
  }

  it('finds the route and the parameters that @koa/router alone finds, and the same Allow, on each path of the service', async () => {
    const known = new Set(lines.map(({ path }) => path));
    for (const path of [...pathsOfPlanes.control, ...pathsOfPlanes.gateway]) assert.ok(known.has(path), path);
    for (const path of known) {
      for (const url of variantsOf(path)) for (const method of methods) await compare(method, url);
    }
  });

  it('does the same for paths that are joined of any segments', async () => {
    const words = [...new Set(lines.flatMap(({ path }) => path.split('/').slice(1)))];
    const segment = fc.oneof(fc.constantFrom(...words), fc.constantFrom(...values));
    const like = fc.constantFrom(...lines).chain(({ path }) => {
      const segments = path.split('/').slice(1);
      return fc.tuple(...segments.map((given) => (given.startsWith(':') ? segment : fc.constant(given))));
    });
    const paths = fc.oneof(like, fc.array(segment, { maxLength: 7 })).map((segments) => `/${segments.join('/')}`);
    await fc.assert(fc.asyncProperty(fc.constantFrom(...methods), paths, compare), { numRuns: 500 });
  });

  it('refuses a route whose first segments are not fixed', () => {
    for (const path of ['/v1/:name', '/:name', '/:name/flows']) {
      const route: Route = { method: 'GET', path, handler: async () => undefined };
      assert.throws(() => createRouter([route]), /first two segments/);
    }
  });
});

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
/** @koa/router answers these itself where no route has them: 200 and 501. The service refuses them like any other method. */
const answeredByKoa = new Set(['OPTIONS', 'PROPFIND']);

/** Segments with ids that are plain, escaped, in the wrong case or malformed, and with none. */
const values = [
  'cm3v8k2p90000qzrm4d1x7w5b',
  'gpt-5.2:x',
  'a%20b',
  'a%2Fb',
  '%2e%2e',
  '%C3%BC',
  '%zz',
  '%',
  '%00',
  'ID',
  '.',
  '..',
  'é',
  '__proto__',
  '',
];

/** URLs that name a route in each way, or only resemble its path. */
function variantsOf(path: string): ReadonlyArray<string> {
  const [id = ''] = values;
  const plain = path.replaceAll(/:\w+/g, id);
  const filled = path.includes(':') ? values.map((value) => path.replaceAll(/:\w+/g, value)) : [plain];
  return [
    ...filled,
    `${plain}?limit=3&path=/v1/flows`,
    `${plain}?`,
    `${plain}/`,
    `${plain}/more`,
    `/${plain}`,
    plain.toUpperCase(),
    plain.replace('/', '//'),
    plain.replace(/\/[^/]*$/, ''),
    plain.replace(/[a-z](?=[^/]*$)/, '%61'),
  ];
}

/** Answers as the service does: by its router, else with 405 or 404. */
function serviceOf(lines: ReadonlyArray<Line>) {
  let found: Pick<Answered, 'route' | 'parameters'> | null = null;
  const routes = lines.map(({ method, path }): Route => {
    const handler: Route['handler'] = async (_, parameters) => {
      found = { route: path, parameters: { ...parameters } };
    };
    return { method, path, handler };
  });
  const router = createRouter(routes);
  return async (method: string, url: string): Promise<Answered> => {
    found = null;
    const ctx = contextOf(method, url);
    const { path } = createRequestContext(ctx);
    await router.handle(ctx, path);
    if (found !== null) return { status: 200, ...(found as Pick<Answered, 'route' | 'parameters'>), allow: [] };
    const { methods: allow } = router.accepted(path);
    return { ...nothing, status: allow.length === 0 ? 404 : 405, allow };
  };
}

/** Answers by @koa/router alone, which tries one route after the other. */
function koaOf(lines: ReadonlyArray<Line>) {
  const router = new Router({ strict: true, sensitive: true });
  for (const { method, path } of lines) {
    router.register(path, [method], (ctx: RouterContext) => {
      ctx.status = 200;
      ctx.state = { route: path, parameters: { ...ctx.params } };
    });
  }
  const [answer, refuse] = [router.routes(), router.allowedMethods()];
  return async (method: string, url: string): Promise<Answered> => {
    const ctx = contextOf(method, url) as RouterContext;
    await refuse(ctx, () => Promise.resolve(answer(ctx, async () => undefined)));
    if ('route' in ctx.state) return { status: 200, ...(ctx.state as typeof nothing), allow: [] };
    const allow = String(ctx.res.getHeader('allow') ?? '')
      .split(', ')
      .filter(Boolean)
      .sort();
    const isRefused = answeredByKoa.has(method) && ctx.status !== 404;
    return { ...nothing, status: isRefused ? (allow.length === 0 ? 404 : 405) : ctx.status, allow };
  };
}

const nothing = { route: null, parameters: {} };

const koa = new Koa();

/** A context of Koa for a request that has not come from a socket. */
function contextOf(method: string, url: string): Context {
  const request = Object.assign(new IncomingMessage(new Socket()), { method, url });
  const ctx = koa.createContext(request, new ServerResponse(request));
  ctx.res.statusCode = 404;
  return ctx;
}
