import assert from 'node:assert/strict';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { failures } from '#domain/failures.ts';
import { problemsPage } from '#http/docs/docs-pages.ts';
import { type FakeService, startFakeService } from '#test/http/support/fake-service.ts';
import { allOperations } from '#test/support/openapi/all-operations.ts';
import packageJson from '../../../package.json' with { type: 'json' };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

describe('the documentation over HTTP', () => {
  const operations = allOperations();
  const version = '0.5.0+a58340c';
  let service: FakeService;

  before(async () => {
    service = await startFakeService({ operations, version });
  });
  after(() => service.stop());

  /** `fetch` decodes bodies; this does not. */
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<Answer>((resolve, reject) => {
      request(service.url + path, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
        );
      })
        .on('error', reject)
        .end();
    });

  const paths = ['/openapi.json', '/docs', '/docs/problems', '/docs/events'];
  const assets = ['swagger-ui-bundle.js', 'swagger-ui.css', 'start.js', 'docs.css'].map(
    (name) => `/docs/assets/${name}`,
  );

  for (const path of [...paths, ...assets]) {
    it(`sends ${path} in the encoding that the client accepts, with a tag for each`, async () => {
      const plain = await get(path);
      const zipped = await get(path, { 'accept-encoding': 'gzip' });
      const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
      assert.deepEqual(
        [plain, zipped, brotli].map(({ headers }) => headers['content-encoding']),
        [undefined, 'gzip', 'br'],
      );
      assert.ok(gunzipSync(zipped.bytes).equals(plain.bytes));
      assert.ok(brotliDecompressSync(brotli.bytes).equals(plain.bytes));
      const tags = [plain, zipped, brotli].map(({ headers }) => String(headers.etag));
      assert.equal(new Set(tags).size, 3);
      for (const { headers } of [plain, zipped, brotli]) assert.equal(headers.vary, 'Accept-Encoding');
      const again = await get(path, { 'accept-encoding': 'br', 'if-none-match': tags[2] ?? '' });
      assert.deepEqual([again.status, again.bytes.length], [304, 0]);
    });
  }

  it('links every operation from /docs, which shows the version of the product', async () => {
    const html = (await get('/docs')).bytes.toString();
    assert.ok(html.includes(`Switchyard ${version}`));
    for (const { group, name } of operations)
      assert.ok(html.includes(`href="#/${encodeURIComponent(group)}/${name}"`), name);
  });

  it('lists every type of event on /docs/events', async () => {
    const html = (await get('/docs/events')).bytes.toString();
    assert.match(
      html,
      /<tr id="FlowCreated"><td><code>FlowCreated<\/code><\/td><td>The flow “Opening hours” was created/,
    );
  });
});

describe('the solutions of problems', () => {
  const solutions = Object.entries(failures).map(([code, { solution }]) => ({ code, solution }));

  it('differ from each other, and are on the page /docs/problems', () => {
    const html = problemsPage();
    assert.equal(new Set(solutions.map(({ solution }) => solution)).size, solutions.length);
    assert.equal(html.match(/<tr id=/g)?.length, solutions.length);
    for (const { code } of solutions) assert.ok(html.includes(`<tr id="${code}">`), code);
  });

  it('name only requests and commands that there are', () => {
    const form = (path: string) => path.replaceAll(/:\w+|\{\w+\}/g, '{}');
    const requests = new Set(allOperations().map(({ http }) => `${http.method.toUpperCase()} ${form(http.path)}`));
    for (const known of ['GET /readyz', 'GET /v1/events', 'POST /v1/digests']) requests.add(known);
    for (const { code, solution } of solutions) {
      for (const [, named = ''] of solution.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`/g))
        assert.ok(requests.has(form(named)), `${code}: ${named}`);
      for (const [, script = ''] of solution.matchAll(/`npm run (\w+)/g))
        assert.ok(script in packageJson.scripts, code);
    }
  });
});
