import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { GatewayScenario } from '#test/e2e/support/gateway-scenario.ts';
import { completion, json } from '#test/gateway/support/fake-provider.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import { adminKey, poll } from '#test/support/service/service-process.ts';
import {
  assertAccessible,
  assertNotWider,
  closeWithoutComplaints,
  type Dashboard,
  goTo,
  openDashboard,
  screens,
  settled,
} from './open-dashboard.ts';

const waitMs = 60_000;
const line = JSON.stringify({
  custom_id: 'a',
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'alone', messages: [{ role: 'user', content: 'Hi' }] },
});

describeInBrowser('resources of the gateway on the dashboard in a browser @long', () => {
  let story: GatewayScenario;
  let browser: Browser;
  let dashboard: Dashboard;

  before(async () => {
    story = await GatewayScenario.begin();
    story.primary.answers(json(completion('Hello.')));
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await story?.end();
  });
  afterEach(() => closeWithoutComplaints(dashboard));

  const open = async (path: string, options = {}) => {
    dashboard = await openDashboard(browser, story.service.url, adminKey, options);
    await goTo(dashboard.page, path);
    return dashboard.page;
  };
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const confirm = (page: Page, name: string) => page.locator('dialog').getByRole('button', { name }).click();
  const rows = (page: Page) => page.locator('main tbody tr');
  const gone = (page: Page, text: string) => rows(page).filter({ hasText: text }).waitFor({ state: 'detached' });

  // The tests follow one another: a batch needs a file, and a store has one.
  it('makes and renames a project', async () => {
    const page = await open('/projects');
    await press(page, 'New project');
    await page.locator('dialog').getByLabel('Name').fill('Front desk');
    await confirm(page, 'Create project');
    await press(page, 'Rename Front desk');
    await page.locator('dialog').getByLabel('Name').fill('Night desk');
    await confirm(page, 'Rename project');
    await page.locator('main').getByText('Night desk').waitFor();
    assert.equal(await rows(page).count(), 2);
  });

  it('says why a project has no such name, at its field', async () => {
    const page = await open('/projects');
    await press(page, 'New project');
    await confirm(page, 'Create project');
    await page.locator('dialog .error-text').waitFor();
    dashboard.refused.splice(0);
  });

  it('uploads, downloads and deletes files', async () => {
    const page = await open('/files');
    await page.getByText('No files yet').waitFor();
    for (const name of ['questions.jsonl', 'other.jsonl']) {
      await press(page, 'Upload a file');
      await page
        .getByLabel('File', { exact: true })
        .setInputFiles({ name, mimeType: 'application/jsonl', buffer: Buffer.from(`${line}\n`) });
      await confirm(page, 'Upload');
      await page.locator('dialog').waitFor({ state: 'detached' });
      await page.locator('main').getByText(name).waitFor();
    }
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download questions.jsonl' }).click(),
    ]);
    assert.equal(saved.suggestedFilename(), 'questions.jsonl');
    assert.equal(readFileSync(await saved.path(), 'utf8'), `${line}\n`);
    await page.getByRole('button', { name: 'Delete other.jsonl' }).click();
    await page.locator('dialog').getByText('will be deleted').first().waitFor();
    await confirm(page, 'Delete file');
    await gone(page, 'other.jsonl');
    assert.equal(await rows(page).count(), 1);
  });

  it('stores nothing of an upload that is cancelled, and says nothing of a stored file', async () => {
    const page = await open('/files');
    await page.route('**/v1/files', (route) => (route.request().method() === 'POST' ? undefined : route.continue()));
    await press(page, 'Upload a file');
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'late.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(`${line}\n`) });
    await confirm(page, 'Upload');
    await page.locator('dialog [role="status"]').waitFor();
    await confirm(page, 'Cancel');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await settled(page);
    assert.equal(await page.locator('.toast').count(), 0);
    assert.equal(await rows(page).count(), 1);
  });

  it('begins a batch, shows its progress and gives its answers', async () => {
    const page = await open('/batches');
    await page.getByText('No batches yet').waitFor();
    await press(page, 'New batch');
    await page.locator('dialog').getByText('questions.jsonl').first().waitFor({ state: 'attached' });
    await confirm(page, 'Begin batch');
    await page.locator('main').getByText('completed').waitFor({ timeout: waitMs });
    await page.getByText('1 done, 0 failed, of 1').waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), press(page, 'Answers')]);
    assert.match(readFileSync(await saved.path(), 'utf8'), /Hello\./);
  });

  it('cancels a batch after asking', async () => {
    story.primary.answers(() => undefined);
    const page = await open('/batches');
    await press(page, 'New batch');
    await page.locator('dialog').getByText('questions.jsonl').first().waitFor({ state: 'attached' });
    await confirm(page, 'Begin batch');
    await press(page, 'Cancel');
    await confirm(page, 'Cancel batch');
    await page
      .locator('main')
      .getByText(/^cancell/)
      .first()
      .waitFor({ timeout: waitMs });
    story.primary.answers(json(completion('Hello.')));
  });

  it('makes a store, adds a file to it, removes it and deletes the store', async () => {
    const page = await open('/stores');
    await page.getByText('No stores yet').waitFor();
    await press(page, 'New store');
    await page.locator('dialog').getByLabel('Name').fill('House rules');
    await confirm(page, 'Create store');
    await page.getByRole('link', { name: 'House rules' }).click();
    await settled(page);
    await page.getByText('No files yet').waitFor();
    await press(page, 'Add a file');
    const option = page.locator('dialog option').filter({ hasText: 'questions.jsonl' });
    await page
      .locator('dialog')
      .getByLabel('File')
      .selectOption(await option.getAttribute('value'));
    await confirm(page, 'Add file');
    await page.getByRole('button', { name: 'Remove questions.jsonl' }).click();
    await confirm(page, 'Remove file');
    await page.getByText('No files yet').waitFor();
    await goTo(page, '/stores');
    await page.getByRole('button', { name: 'Delete House rules' }).click();
    await confirm(page, 'Delete store');
    await page.getByText('No stores yet').waitFor();
  });

  it('shows the prices and the health of the targets of models', async () => {
    const page = await open('/models');
    const text = await rows(page).filter({ hasText: 'large' }).innerText();
    assert.match(text, /primary\/gpt-x[\s\S]*USD 3 in, 9 out for a million tokens/);
    await rows(page).filter({ hasText: 'alone' }).getByRole('link').click();
    await settled(page);
    assert.equal(new URL(page.url()).search, '?model=alone');
    assert.ok(await poll(async () => (await rows(page).count()) > 0, waitMs));
  });

  it('holds a conversation in the playground, shows how much is stored, and erases it', async () => {
    const page = await open('/gateway');
    await page.locator('#playground').getByLabel('Model').selectOption('sandbox');
    await page.locator('#playground').getByLabel('Protocol').selectOption('responses');
    for (const [index, said] of ['Hello', 'Again'].entries()) {
      await page.locator('#playground').getByLabel('Message').fill(said);
      await press(page, 'Send');
      const answers = page.locator('#playground .said').filter({ hasText: 'This is the Switchyard sandbox' });
      assert.ok(await poll(async () => (await answers.count()) === index + 1, waitMs));
      await page.locator('#playground').getByRole('button', { name: 'Clear' }).waitFor();
    }
    await goTo(page, '/responses');
    await page.getByText('stored responses').waitFor();
    assert.match(await page.locator('main').innerText(), /2\s+stored responses/);
    await press(page, 'Erase all');
    await confirm(page, 'Erase all');
    await page.getByText('No conversations yet').waitFor();
  });

  for (const { name, options } of screens)
    it(`is accessible and not wider than the screen (${name})`, async () => {
      const page = await open('', options);
      for (const view of ['/projects', '/files', '/batches', '/stores', '/models', '/responses']) {
        await goTo(page, view);
        await assertAccessible(page, `${view}, ${name}`);
        await assertNotWider(page, `${view}, ${name}`);
      }
    });
});
