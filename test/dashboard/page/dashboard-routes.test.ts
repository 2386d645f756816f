import assert from 'node:assert/strict';
import { dashboardRoutes } from '#dashboard/dashboard-routes.ts';
import { dashboardPath, pagePaths } from '#dashboard/page-paths.ts';
import { type FakeService, startFakeService } from '#test/http/support/fake-service.ts';

const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';

describe('dashboard over HTTP', () => {
  let service: FakeService;

  before(async () => {
    service = await startFakeService({ publicRoutes: dashboardRoutes(), browserHome: dashboardPath });
  });
  after(() => service.stop());

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(service.url + path, { headers, redirect: 'manual' });
  const addressesIn = async () => {
    const html = await (await get(dashboardPath)).text();
    return [...html.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
  };

  it('answers each view with the page, without a key, under a policy that allows nothing inline', async () => {
    for (const path of pagePaths) {
      const answer = await get(path.replace(':id', 'c123456'));
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(
        answer.headers.get('content-security-policy') ?? '',
        /^default-src 'self'; style-src 'self'; img-src 'self' data:;/,
      );
      assert.doesNotMatch(await answer.text(), /<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=|https?:\/\//);
    }
  });

  it('serves every file of the page compressed and cacheable for ever', async () => {
    const addresses = await addressesIn();
    for (const file of ['main.js', 'main.css', 'styles.mark.svg', 'vendor.preact.js'])
      assert.ok(
        addresses.some((address) => address.endsWith(`/${file}`)),
        file,
      );
    for (const address of addresses) {
      const answer = await get(address, { 'accept-encoding': 'gzip, br' });
      assert.equal(answer.status, 200, address);
      assert.equal(answer.headers.get('content-encoding'), 'br');
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      const tag = answer.headers.get('etag') ?? '';
      assert.equal((await get(address, { 'accept-encoding': 'gzip, br', 'if-none-match': tag })).status, 304);
    }
  });

  it('sends a file in an encoding that the browser accepts', async () => {
    const [address = ''] = await addressesIn();
    const encodings = ['gzip', 'br;q=0, gzip', 'identity', ''].map(async (accepted) => {
      const answer = await get(address, { 'accept-encoding': accepted });
      return [answer.headers.get('content-encoding'), (await answer.text()).length];
    });
    const [plain] = (await encodings[2]) ?? [];
    const lengths = new Set((await Promise.all(encodings)).map(([, length]) => length));
    assert.equal(plain, null);
    assert.equal(lengths.size, 1);
    assert.deepEqual(
      (await Promise.all(encodings)).map(([encoding]) => encoding),
      ['gzip', 'gzip', null, null],
    );
  });

  it('serves only the files of the page, and only under their current hash', async () => {
    const [address = ''] = await addressesIn();
    const folder = address.slice(0, address.lastIndexOf('/'));
    for (const path of [
      `${folder}/package.json`,
      `${folder}/..%2f..%2fpackage.json`,
      address.replace(folder, '/dashboard/assets/old'),
    ]) {
      assert.equal((await get(path)).status, 404, path);
    }
  });

  it('sends a browser from / to the page, and answers everything else there with 401', async () => {
    const home = await get('/', { accept: browser });
    assert.deepEqual(
      [home.status, home.headers.get('location'), home.headers.get('vary')],
      [303, dashboardPath, 'Accept'],
    );
    assert.equal((await get('/', { accept: 'application/json' })).status, 401);
  });

  it('links the documentation and the page to each other', async () => {
    assert.match(await (await get('/docs')).text(), /href="\/dashboard"/);
  });
});
