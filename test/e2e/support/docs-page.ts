import type { Browser, Locator, Page } from 'playwright-core';
import { poll } from '#test/support/run/poll.ts';
import { launchBrowser } from '#test/support/service/chromium.ts';
import type { DocumentedOperation, Specification } from './documented-operations.ts';

/** The limit of each step in the browser. It only keeps a test from hanging. */
const maxStepMs = 60_000;

/** The input for an operation's form. The page's own values remain where a member is missing. */
export interface FormInput {
  readonly path?: Readonly<Record<string, string>>;
  /** Replaces members of the body. */
  readonly body?: object;
  /** The file of a multipart form. */
  readonly file?: { readonly name: string; readonly mimeType: string; readonly buffer: Buffer };
}

/** The answer as the page shows it. */
export interface ShownAnswer {
  readonly status: number;
  readonly text: string;
}

/** The documentation page in a separate browser. */
export class DocsPage {
  /** The reports of the browser: errors of scripts, and violations of the page's policy. */
  readonly faults: string[] = [];
  readonly browser: Browser;
  readonly page: Page;

  private constructor(browser: Browser, page: Page) {
    this.browser = browser;
    this.page = page;
    page.setDefaultTimeout(maxStepMs);
    page.on('pageerror', ({ message }) => this.faults.push(message));
    page.on('console', (message) => {
      // Some operations are expected to answer with a refusal.
      const isFault = message.type() === 'error' && !message.text().startsWith('Failed to load resource');
      if (isFault) this.faults.push(message.text());
    });
  }

  /** Starts a browser with an empty page. */
  static async launch(): Promise<DocsPage> {
    const browser = await launchBrowser();
    return new DocsPage(browser, await browser.newPage({ viewport: { width: 1280, height: 2000 } }));
  }

  /** Loads the documentation page of a service. */
  async open(serviceUrl: string): Promise<void> {
    await this.page.goto(`${serviceUrl}/docs`);
    await this.page.waitForSelector('.opblock');
  }

  /** Enters an API key under "Authorize". */
  async authorize(key: string): Promise<void> {
    await this.page.click('.auth-wrapper .btn.authorize');
    await this.page.fill('.auth-container input[type=text] >> nth=0', key);
    await this.page.click('.auth-container .btn.authorize >> nth=0');
    await this.page.click('.modal-ux .btn-done');
  }

  /** Whether the page has an API key. */
  async isAuthorized(): Promise<boolean> {
    return (await this.page.locator('.auth-wrapper .btn.authorize.locked').count()) > 0;
  }

  /**
   * Executes an operation with "Try it out". The page is given this operation alone: Swagger UI resolves the whole
   * document whenever an operation is opened.
   */
  async tryOut(specification: Specification, operation: DocumentedOperation, input: FormInput): Promise<ShownAnswer> {
    const block = await this.#shown(specification, operation);
    await block.locator('.opblock-summary-control').click();
    await block.locator('.try-out__btn').click();
    for (const [name, value] of Object.entries(input.path ?? {})) await enterParameter(block, name, value);
    if (input.body !== undefined) await replaceMembers(block, input.body);
    if (input.file !== undefined) await block.locator('input[type=file]').setInputFiles(input.file);
    await block.locator('.execute').click();
    const answer = block.locator('.live-responses-table .response');
    const status = await answer.locator('.response-col_status').innerText();
    return { status: Number.parseInt(status, 10), text: await answer.innerText() };
  }

  /** Whether the player can play an answer, after it has read the duration. */
  async canPlay(): Promise<boolean> {
    // The page's policy forbids what Playwright evaluates again and again.
    const lasts = "document.querySelector('.responses-wrapper audio')?.duration > 0";
    return (await poll(async () => (await this.page.evaluate(lasts)) === true, maxStepMs)) === true;
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  async #shown(
    specification: Specification,
    { name, path, method, description }: DocumentedOperation,
  ): Promise<Locator> {
    const alone = { ...specification, paths: { [path]: { [method]: description } } };
    // `page` is the Swagger UI of `start.js`.
    await this.page.evaluate(`page.specActions.updateJsonSpec(${JSON.stringify(alone)})`);
    return this.page.locator(`.opblock[id$="-${name}"]`);
  }
}

async function enterParameter(block: Locator, name: string, value: string): Promise<void> {
  const row = block.locator(`tr[data-param-name="${name}"][data-param-in="path"]`);
  const choice = row.locator('select');
  if ((await choice.count()) > 0) await choice.selectOption(value);
  else await row.locator('input').fill(value);
}

async function replaceMembers(block: Locator, members: object): Promise<void> {
  const text = block.locator('.body-param__text');
  const body = { ...JSON.parse(await text.inputValue()), ...members };
  await text.fill(JSON.stringify(body, null, 2));
}
