import assert from 'node:assert/strict';
import { describeInBrowser } from '#test/support/service/chromium.ts';
import { adminKey } from '#test/support/service/service-process.ts';
import { DocsPage } from './support/docs-page.ts';
import { runningService } from './support/running-service.ts';

describeInBrowser('documentation page in a browser @long', () => {
  const running = runningService({ environment: () => ({}) });
  let docs: DocsPage;

  before(async () => {
    docs = await DocsPage.launch();
  });
  after(() => docs?.close());

  it('keeps the key for the tab until Logout, and for no other tab', async () => {
    const { page, browser } = docs;
    await docs.open(running.url);
    assert.equal(await docs.isAuthorized(), false);
    await docs.authorize(adminKey);
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
    assert.equal(await docs.isAuthorized(), false);
  });

  it('shows the group of the operation that a link names', async () => {
    const { page } = docs;
    await docs.open(running.url);
    assert.equal(await page.locator('.opblock[id$="-create_template"]').count(), 0);
    await page.click('nav details[data-group="Templates"] summary');
    await page.click('nav li a[href="#/Templates/create_template"]');
    await page.waitForSelector('.opblock.is-open[id$="-create_template"] .parameters');
    assert.equal(await page.locator('.opblock[id$="-create_flow"]').count(), 0);
    await page.reload();
    await page.waitForSelector('.opblock.is-open[id$="-create_template"] .parameters');
  });

  it('shows the parts of descriptions that are in angle brackets', async () => {
    const { page } = docs;
    await docs.open(running.url);
    await page.click('.auth-wrapper .btn.authorize');
    assert.match(await page.locator('.auth-container').first().innerText(), /Bearer <API key>/);
    await page.click('.modal-ux .btn-done');
  });
});
