import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { poll } from '#test/support/service/service-process.ts';

/** The folder for screenshots of the views, outside the repository. */
const pictures = join(import.meta.dirname, '../../../test-artefacts/dashboard');

/** The screens on which every view is tested. */
export const screens = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: '1000', options: { viewport: { width: 1000, height: 760 } } },
  { name: '360', options: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true } },
] as const;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of the dashboard, with the errors that the browser reported. */
export interface Dashboard {
  readonly page: Page;
  /** Errors of scripts, and violations of the Content-Security-Policy. A refused request is neither. */
  readonly complaints: string[];
  /** The requests that were answered with 400 or more, with their status. */
  readonly refused: string[];
  readonly close: () => Promise<void>;
}

const waitMs = 30_000;

/** The requests of each page that are not answered yet, without its live feed. */
const unanswered = new WeakMap<Page, Set<Request>>();

/** Opens the dashboard and signs in. */
export async function openDashboard(
  browser: Browser,
  url: string,
  key: string,
  options: BrowserContextOptions = {},
): Promise<Dashboard> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) complaints.push(text);
  });
  const waiting = new Set<Request>();
  unanswered.set(page, waiting);
  page.on('request', (request) => request.url().endsWith('/v1/events') || waiting.add(request));
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => waiting.delete(request));
  const refused: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url().slice(url.length)}`);
  });
  await page.goto(`${url}/dashboard`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForSelector('.shell');
  return { page, complaints, refused, close: () => context.close() };
}

/** Closes a page for which the browser reported no error and no refused request. */
export async function closeWithoutComplaints({ complaints, refused, close }: Dashboard): Promise<void> {
  await close();
  assert.deepEqual([complaints, refused], [[], []]);
}

/** Opens a view like a link, because a reload would sign out. @param path after `/dashboard` */
export async function goTo(page: Page, path: string): Promise<void> {
  const address = JSON.stringify(`/dashboard${path}`);
  await page.evaluate(`history.pushState(null, '', ${address}); dispatchEvent(new PopStateEvent('popstate'))`);
  await settled(page);
}

/** Waits until a view is complete. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main h1');
  await holds(page, `document.querySelector('main').childElementCount > 1`);
  await holds(page, `document.querySelector('main .skel, main [aria-busy="true"]') === null`);
  // What is read without a placeholder, such as the names of resources, and what is read because of that.
  for (let round = 0; round < 2; round += 1) {
    const now = unanswered.get(page) ?? new Set();
    const earlier = [...now];
    assert.ok(await poll(() => !earlier.some((request) => now.has(request)), waitMs), 'a request has no answer');
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  }
}

/** Waits until an expression is true in the page. */
export async function holds(page: Page, expression: string): Promise<void> {
  const held = await poll(() => page.evaluate<boolean>(expression), waitMs);
  assert.ok(held, `It is not true in the page: ${expression}`);
}

/** Stores a screenshot of the whole page. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

interface AxeResult {
  readonly violations: ReadonlyArray<{
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: ReadonlyArray<{ readonly target: ReadonlyArray<string>; readonly failureSummary?: string }>;
  }>;
}

/** Asserts that axe finds nothing serious or critical. */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResult>('axe.run()');
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const found = serious.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary ?? ''}`)
        .slice(0, 3)
        .join(' | ')}`,
  );
  assert.deepEqual(found, [], where);
}

/** Finds words in tables that are broken over two lines. Ids may be broken. */
const brokenWords = `[...document.querySelectorAll('main td, main tbody th')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (word.length < 32 && new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word);
    }
  }
  return found;
})`;

/** Asserts that every word in a table is on one line. */
export async function assertNoBrokenWord(page: Page, where: string): Promise<void> {
  assert.deepEqual(await page.evaluate<string[]>(brokenWords), [], where);
}

/** Asserts that the page does not scroll sideways. */
export async function assertNotWider(page: Page, where: string): Promise<void> {
  const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(wider <= 0, `${where} is ${wider} px wider than the screen`);
}
