import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '#test/support/service/chromium.ts';
import { here } from './beside/checkout.ts';
import type { Figure, MeasureVersion } from './beside/compare.ts';
import { startService } from './http-processes/processes.ts';
import { format, print } from './measure.ts';

const firstOperation = '.opblock >> nth=0';

/**
 * Measures when a browser that has just been started shows the first operation of `/docs`, and after a click its
 * parameters. Needs Chromium.
 */
export default async function docsPage(): Promise<void> {
  for (const { what, value, unit } of await docsFigures(here)) print(`${what}: ${format(value)}${unit}`);
}

/** Measures another version beside this one, by itself. */
export function beside(): MeasureVersion {
  return docsFigures;
}

const docsFigures: MeasureVersion = async (checkout) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const service = await startService(folder, { LOG_LEVEL: 'warn' }, checkout);
  const browser = await launchBrowser();
  try {
    return await measure(browser, `${service.url}/docs`);
  } finally {
    await browser.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

async function measure(browser: Browser, url: string): Promise<ReadonlyArray<Figure>> {
  const page = await browser.newPage();
  const started = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForSelector(firstOperation);
  const shown = performance.now() - started;
  await page.click(firstOperation);
  await page.waitForSelector('.opblock.is-open .parameters, .opblock.is-open .opblock-section');
  return [
    { what: 'the first operation of /docs', value: shown, unit: ' ms' },
    { what: 'its parameters, after a click', value: performance.now() - started, unit: ' ms' },
  ];
}
