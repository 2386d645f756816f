import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { holds, settled } from '#test/dashboard/browser/open-dashboard.ts';
import { launchBrowser } from '#test/support/service/chromium.ts';
import { adminKey, startService } from './http-processes/processes.ts';
import { appendMeteredCalls, defaultCalls } from './logs/metered-calls.ts';
import { eventsOf, prepareLog } from './logs/prepared-log.ts';
import { format, interleaved, median, print, printResults } from './measure.ts';

const rounds = 9;
const requiredMs = 500;
const aimMs = 300;
/** A page without further files. */
const plainPage = '/docs/problems';

/**
 * Measures when the dashboard first paints, and when its overview shows its figures, in headless Chromium on a service
 * with many events and metered calls (default: 1,000,000 and 10,000,000), against the first paint of a page of plain
 * text from the same service. Each load has a new browser context, so that nothing is cached.
 */
export default async function firstPaint(args: ReadonlyArray<string>): Promise<void> {
  const events = eventsOf(args);
  const calls = Number(args[1] ?? defaultCalls);
  const log = await prepareLog(events);
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-first-paint-'));
  await copyFile(log, join(folder, 'events.db'));
  await addCalls(join(folder, 'events.db'), calls);
  const service = await startService(folder, { LOG_LEVEL: 'error' });
  const browser = await launchBrowser();
  try {
    const overviewMs: number[] = [];
    const medians = await interleaved(
      [
        { name: 'plain', round: () => inNewContext(browser, (page) => paintMs(page, service.url + plainPage)) },
        {
          name: 'dashboard',
          round: () =>
            inNewContext(browser, async (page) => {
              const paint = await paintMs(page, `${service.url}/dashboard`);
              overviewMs.push(await signIn(page));
              return paint;
            }),
        },
      ],
      rounds,
    );
    const [plain = Number.NaN, dashboard = Number.NaN] = ['plain', 'dashboard'].map((name) => medians.get(name));
    print(
      `${format(events)} events and ${format(calls)} calls; a page of plain text paints after ${plain.toFixed(0)} ms.`,
    );
    printResults([
      { what: 'first paint of the dashboard', figure: dashboard, unit: ' ms', required: requiredMs, aim: aimMs },
      {
        what: 'from signing in to the figures of the overview',
        figure: median(overviewMs),
        unit: ' ms',
        required: requiredMs,
        aim: aimMs,
      },
    ]);
  } finally {
    await browser.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function addCalls(file: string, calls: number): Promise<void> {
  const store = await openSqliteEventStore({ file });
  await appendMeteredCalls(store, calls);
  await store.close();
}

async function inNewContext(browser: Browser, measure: (page: Page) => Promise<number>): Promise<number> {
  const context = await browser.newContext();
  try {
    return await measure(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Returns the time from the navigation to the first paint of content (W3C Paint Timing). */
async function paintMs(page: Page, url: string): Promise<number> {
  await page.goto(url);
  const paint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`;
  await holds(page, `(${paint}) > 0`);
  return page.evaluate<number>(paint);
}

/** Signs in. @returns the time until the overview showed its figures */
async function signIn(page: Page): Promise<number> {
  await page.getByLabel('API key').fill(adminKey);
  const began = performance.now();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await settled(page);
  return performance.now() - began;
}
