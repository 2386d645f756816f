import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { launchBrowser } from '#test/support/service/chromium.ts';
import { DemoProcess, variablesIn } from '#test/support/service/demo-process.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { goTo, openDashboard, settled } from './browser/open-dashboard.ts';

/**
 * Makes the pictures of README.md and docs/dashboard.md from the demo: `npm run screenshots`. It needs Chromium, whose
 * program `CHROMIUM` may name.
 */

const pictures = join(import.meta.dirname, '../../docs/pictures');

/** The pictures, each with its path after `/dashboard` and, where the page of one resource is shown, the link to it. */
const views: Readonly<Record<string, readonly [path: string, link?: string]>> = {
  // The hours of a week hide that the demo makes many calls in its first minute.
  overview: ['?range=7d'],
  flows: ['/flows'],
  flow: ['/flows', 'text="Where is my parcel?"'],
  templates: ['/templates'],
  gateway: ['/gateway?range=7d'],
  calls: ['/calls'],
  call: ['/calls?model=steady', 'main tbody tr:last-child a'],
  models: ['/models'],
  files: ['/files'],
  batches: ['/batches'],
  stores: ['/stores'],
  'phone-numbers': ['/phone-numbers'],
  'agent-profiles': ['/agent-profiles'],
  customers: ['/customers'],
  audit: ['/audit'],
  projects: ['/projects'],
  responses: ['/responses'],
  keys: ['/keys'],
  webhooks: ['/webhooks'],
  'webhook-endpoint': ['/webhooks', 'main tbody a'],
  projections: ['/projections'],
};

/** The views whose picture also exists in dark. */
const alsoDark: ReadonlySet<string> = new Set(['overview']);

const viewport = { width: 1280, height: 860 };
const quality = 80;
/** Until then, the webhooks that the demo's receiver refused have been repeated. */
const repeatedMs = 12_000;

const folder = temporaryFolder();
const demo = new DemoProcess({ environment: { DATA_DIR: join(folder.path, 'demo'), PORT: '0' } });
const browser = await launchBrowser();
try {
  const { URL: url = '', ADMIN: key = '' } = variablesIn(await demo.printed('Stop it with Ctrl-C'));
  await sleep(repeatedMs);
  mkdirSync(pictures, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, close } = await openDashboard(browser, url, key, { viewport, colorScheme, locale: 'en-GB' });
    const wanted = Object.entries(views).filter(([name]) => colorScheme === 'light' || alsoDark.has(name));
    for (const [name, [path, link]] of wanted) {
      await goTo(page, path);
      if (link !== undefined) await page.locator(link).first().click();
      await page.mouse.move(0, 0);
      await settled(page);
      await keep(page, colorScheme === 'light' ? name : `${name}-dark`);
    }
    await close();
  }
} finally {
  await browser.close();
  await demo.stop();
  folder.remove();
}

/** Stores what the window shows as WebP, which Playwright itself cannot write. */
async function keep(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
  const bytes = Buffer.from(data, 'base64');
  writeFileSync(join(pictures, `${name}.webp`), bytes);
  process.stdout.write(`${name}.webp: ${Math.round(bytes.length / 1_000)} kB\n`);
}
