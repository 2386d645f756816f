import assert from 'node:assert/strict';
import { type Browser, chromium, type Page } from 'playwright-core';
import { runningService } from '#test/e2e/support/running-service.ts';
import { chromiumProgram, describeInBrowser } from '#test/support/service/chromium.ts';
import { adminKey } from '#test/support/service/service-process.ts';

describeInBrowser('documentation page in a browser @long', () => {
  const running = runningService({ quick: true, environment: () => ({}) });
  let browser: Browser;
  let page: Page;

  before(async () => {
    browser = await chromium.launch({ executablePath: chromiumProgram, args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.setDefaultTimeout(30_000);
  });
  after(() => browser?.close());

  const open = async (path = '/docs') => {
    await page.goto(running.url + path);
    await page.waitForSelector('.opblock');
  };
  const authorize = async () => {
    await page.click('.auth-wrapper .btn.authorize');
    await page.fill('.auth-container input[type=text] >> nth=0', adminKey);
    await page.click('.auth-container .btn.authorize >> nth=0');
    await page.click('.modal-ux .btn-done');
  };
  const isAuthorized = async () => (await page.locator('.auth-wrapper .btn.authorize.locked').count()) > 0;

  it('keeps the key for the tab until Logout, and for no other tab', async () => {
    await open();
    assert.equal(await isAuthorized(), false);
    await authorize();
    await page.reload();
    await page.waitForSelector('.auth-wrapper .btn.authorize.locked');
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${running.url}/docs`);
    await other.waitForSelector('.opblock');
    assert.equal(await other.locator('.auth-wrapper .btn.authorize.locked').count(), 0);
    await other.context().close();
    await page.click('.auth-wrapper .btn.authorize');
    await page.click('.auth-container button:has-text("Logout") >> nth=0');
    await page.click('.modal-ux .btn-done');
    await page.reload();
    await page.waitForSelector('.opblock');
    assert.equal(await isAuthorized(), false);
  });

  it('shows what descriptions have in angle brackets', async () => {
    await open();
    await page.click('.auth-wrapper .btn.authorize');
    assert.match(await page.locator('.auth-container').first().innerText(), /Bearer <API key>/);
    await page.click('.modal-ux .btn-done');
  });
});
