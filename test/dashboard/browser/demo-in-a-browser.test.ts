import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { pagePaths } from '#dashboard/page-paths.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import { DemoProcess, variablesIn } from '#test/support/service/demo-process.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { assertNotWider, closeWithoutComplaints, goTo, holds, keepPicture, openDashboard } from './open-dashboard.ts';

/** Every view, and every time of the views that have charts of a chosen time. */
const paths = [
  ...pagePaths.filter((path) => !path.includes(':id')).map((path) => path.slice('/dashboard'.length)),
  ...['1h', '7d', '30d'].flatMap((range) => [`?range=${range}`, `/gateway?range=${range}`]),
];

/** Returns the descriptions of the charts in the page without a mark. A grid and a band are grey, and are no marks. */
const emptyCharts = `[...document.querySelectorAll('main [role="img"]')].filter((chart) => {
  const canvas = chart.querySelector('canvas');
  if (canvas !== null) {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue, opacity] = data.subarray(at, at + 4);
      if (opacity > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 80) return false;
    }
    return true;
  }
  if (chart.matches('.share')) return chart.querySelector('rect') === null;
  const bars = chart.querySelector('.bars');
  if (bars !== null) return !/v-(?!0M|0$)/.test(bars.getAttribute('d') + 'M');
  return chart.querySelector('path, rect, span, g') === null;
}).map((chart) => chart.getAttribute('aria-label'))`;

/** Returns the texts of cells that are too narrow to be read. */
const squeezedCells = `[...document.querySelectorAll('main td, main tbody th')]
  .filter(({ innerText, offsetWidth }) => innerText.trim().length > 8 && offsetWidth < 48)
  .map(({ innerText }) => innerText)`;

describeInBrowser('demo in a browser @long', () => {
  const folder = temporaryFolder();
  let demo: DemoProcess;
  let browser: Browser;
  let url: string;
  /** The keys of the operator and of the partner. */
  let keys: { readonly admin: string; readonly partner: string };

  before(async () => {
    demo = new DemoProcess({ environment: { DATA_DIR: join(folder.path, 'demo'), PORT: '0' } });
    const { URL, ADMIN = '', PARTNER = '' } = variablesIn(await demo.printed('Stop it with Ctrl-C'));
    url = URL ?? '';
    keys = { admin: ADMIN, partner: PARTNER };
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await demo?.stop();
    folder.remove();
  });

  for (const { name, holder, options } of [
    { name: 'light', holder: 'admin', options: { colorScheme: 'light' } },
    { name: 'light-partner', holder: 'partner', options: { colorScheme: 'light' } },
    { name: 'dark-phone', holder: 'admin', options: { colorScheme: 'dark', viewport: { width: 390, height: 844 } } },
  ] as const) {
    it(`shows no empty page and no chart without a mark (${name})`, async () => {
      const dashboard = await openDashboard(browser, url, keys[holder], options);
      const { page } = dashboard;
      for (const path of paths) {
        if (holder === 'partner' && path === '/projections') continue;
        await goTo(page, path);
        await holds(page, `${emptyCharts}.length === 0`);
        assert.deepEqual(await emptyPartsOf(page), [], path);
        await assertNotWider(page, path);
        assert.deepEqual(await page.evaluate(squeezedCells), [], path);
        await keepPicture(page, `demo${path.replaceAll(/\W/g, '-')}-${name}`);
      }
      await closeWithoutComplaints(dashboard);
    });
  }
});

/** Returns the titles of the parts of a page that have nothing to show. */
function emptyPartsOf(page: Page): Promise<string[]> {
  return page.locator('main .empty h3').allInnerTexts();
}
