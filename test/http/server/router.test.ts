import assert from 'node:assert/strict';
import { Router, type RouterContext } from '@koa/router';
import fc from 'fast-check';
import type { Context } from 'koa';
import { createRouter, type Route } from '#http/server/router.ts';
import { allOperations } from '#test/support/openapi/all-operations.ts';

interface Found {
  readonly route: string;
  readonly parameters: Readonly<Record<string, string>>;
}

describe('A router', () => {
  const lines = allOperations().map(({ http: { method, path } }) => ({ method: method.toUpperCase(), path }));
  const context = (method: string, path: string) =>
    ({ req: { method }, request: {}, method, path }) as unknown as RouterContext;

  /** Finds a route as @koa/router alone does, which tries one after the other. */
  async function findByKoa(method: string, path: string): Promise<Found | null> {
    let found: Found | null = null;
    const router = new Router({ strict: true, sensitive: true });
    for (const line of lines) {
      router.register(line.path, [line.method], (ctx: RouterContext) => {
        found = { route: line.path, parameters: { ...ctx.params } };
      });
    }
    await router.routes()(context(method, path), async () => undefined);
    return found;
  }

  async function findByTable(method: string, path: string): Promise<Found | null> {
    let found: Found | null = null;
    const routes: Route[] = lines.map((line) => ({
      ...line,
      handler: async (_, parameters) => {
        found = { route: line.path, parameters: { ...parameters } };
      },
    }));
    const handled = createRouter(routes).handle(context(method, path) as unknown as Context, path);
    await handled;
    assert.equal(handled !== null, found !== null);
    return found;
  }

  it('finds the same route and parameters as @koa/router', async () => {
    const known = [...new Set(lines.flatMap(({ path }) => path.split('/').slice(1)))];
    const segment = fc.oneof(
      fc.constantFrom(...known),
      fc.constantFrom('', '.', '..', 'a', 'A', '%20', '%2F', '%zz', 'é', 'c'.repeat(25), '__proto__'),
    );
    const like = fc.constantFrom(...lines).chain(({ path }) => {
      const segments = path.split('/').slice(1);
      return fc.tuple(...segments.map((given) => (given.startsWith(':') ? segment : fc.constant(given))));
    });
    const paths = fc.oneof(like, fc.array(segment, { maxLength: 7 })).map((segments) => `/${segments.join('/')}`);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST', 'PATCH', 'PUT', 'DELETE'), paths, async (method, path) => {
        assert.deepEqual(await findByTable(method, path), await findByKoa(method, path));
      }),
      { numRuns: 500 },
    );
  });

  it('answers HEAD by the route of GET', async () => {
    const [line] = lines.filter(({ method, path }) => method === 'GET' && !path.includes(':'));
    assert.equal((await findByTable('HEAD', line?.path ?? ''))?.route, line?.path);
  });

  it('refuses a route whose first segments are not fixed', () => {
    const route: Route = { method: 'GET', path: '/v1/:name', handler: async () => undefined };
    assert.throws(() => createRouter([route]), /first two segments/);
  });
});
