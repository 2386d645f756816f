import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newKey } from '#test/e2e/support/tenants.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import {
  adminKey,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { assertAccessible } from './open-dashboard.ts';

describeInBrowser('signing in in a browser @long', () => {
  let folder: TemporaryFolder;
  let service: ServiceProcess;
  let browser: Browser;
  let context: BrowserContext;
  let complaints: string[];

  before(async () => {
    folder = temporaryFolder();
    service = await startService({ dataDir: folder.path });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.kill();
    folder.remove();
  });
  beforeEach(async () => {
    complaints = [];
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  });
  afterEach(() => context.close());

  const open = async (path = ''): Promise<Page> => {
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${service.url}/dashboard${path}`);
    return page;
  };
  const signIn = async (page: Page, key = adminKey) => {
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('.shell');
  };

  it('lasts over a reload and in another tab, and keeps no key in the browser', async () => {
    const page = await open();
    await assertAccessible(page, 'sign-in');
    await signIn(page);
    await page.reload();
    await page.waitForSelector('.shell');
    await page.getByText('Live', { exact: true }).waitFor();
    const other = await open('/keys');
    await other.waitForSelector('.shell');
    const stored = await page.evaluate<string>(
      'JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie',
    );
    assert.ok(!stored.includes('sy_live_'), stored);
    assert.doesNotMatch(stored, /[A-Za-z0-9_-]{43}/);
    assert.deepEqual(complaints, []);
  });

  it('leads to the link that was opened before', async () => {
    const page = await open('/audit');
    await signIn(page);
    await page.waitForSelector('main h1');
    assert.equal(await page.locator('main h1').innerText(), 'Audit');
    assert.equal(new URL(page.url()).pathname, '/dashboard/audit');
  });

  it('ends in every tab when one signs out', async () => {
    const [page, other] = [await open(), await open()];
    await signIn(page);
    await other.reload();
    await other.waitForSelector('.shell');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForSelector('.sign');
    await other.waitForSelector('.sign');
    await page.reload();
    await page.waitForSelector('.sign');
    assert.deepEqual(complaints, []);
  });

  it('says why it is over when its key is revoked', async () => {
    const { body } = await service.client.get<{ projectId: string }>('/v1/me');
    const { key, id } = await newKey(service.client, body.projectId, 'admin');
    const page = await open();
    await signIn(page, key);
    await service.client.remove(`/v1/keys/${id}`);
    await page.reload();
    await page.waitForSelector('.sign');
    assert.match(await page.locator('.sign').innerText(), /You are signed out/);
  });
});
