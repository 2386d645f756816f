import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { GatewayScenario } from '#test/e2e/support/gateway-scenario.ts';
import { newKey } from '#test/e2e/support/tenants.ts';
import { completion, error, json, reset } from '#test/gateway/support/fake-provider.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import type { Client } from '#test/support/service/client.ts';
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

describeInBrowser('the first use of the dashboard in a browser @long', () => {
  let story: GatewayScenario;
  let admin: Client;
  let browser: Browser;
  let dashboard: Dashboard;

  before(async () => {
    story = await GatewayScenario.begin();
    admin = story.service.client;
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await story?.end();
  });
  afterEach(() => closeWithoutComplaints(dashboard));

  const open = async (options = {}) => {
    dashboard = await openDashboard(browser, story.service.url, adminKey, options);
    await settled(dashboard.page);
    return dashboard.page;
  };

  // The tests follow one another, as somebody does who begins.
  it('shows four steps and no chart in an empty installation, each with a button', async () => {
    const page = await open();
    assert.equal(await page.getByText('0 of 4 done').count(), 1);
    assert.equal(await page.locator('main .panel').count(), 0);
    await assertAccessible(page, 'first steps');
    for (const [button, heading] of [
      ['New flow', 'New flow'],
      ['New key', 'New key'],
      ['New endpoint', 'New webhook endpoint'],
    ] as const) {
      await goTo(page, '');
      await page.locator('.first-steps').getByRole('link', { name: button }).click();
      await page.locator('dialog').getByRole('heading', { name: heading }).waitFor();
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
      assert.equal(new URL(page.url()).search, '');
    }
  });

  it('ticks a step off when it is done, and shows charts when there is something to show', async () => {
    const { projectId } = expectStatus(await admin.get<{ projectId: string }>('/v1/me'), 200);
    await admin.post(`/v1/projects/${projectId}/flows`, { name: 'Hours', flowSchema: { start: 'a' } });
    await newKey(admin, projectId, 'project');
    const page = await open();
    await page.getByText('2 of 4 done').waitFor();
    story.primary.answers(error(500, 'x'), reset);
    story.backup.answers(json(completion('Hello.')));
    const messages = [{ role: 'user', content: 'Hi' }];
    const answer = await admin.post('/v1/chat/completions', { model: 'large', messages }, { 'x-request-id': 'first' });
    assert.equal(answer.status, 200);
    await page.getByText('First steps').waitFor({ state: 'detached', timeout: waitMs });
    await page.locator('main .panel').first().waitFor();
  });

  for (const { name, options } of screens)
    it(`lists calls, and shows the attempts of one (${name})`, async () => {
      const page = await open(options);
      const isListed = async () => {
        await goTo(page, '/calls');
        return (await page.locator('main tbody tr').count()) > 0;
      };
      assert.ok(await poll(isListed, waitMs));
      await assertAccessible(page, `calls, ${name}`);
      await assertNotWider(page, `calls, ${name}`);
      await page.locator('main tbody a').first().click();
      await settled(page);
      const attempts = await page.locator('.attempts li').allInnerTexts();
      assert.equal(attempts.length, 3);
      assert.match(attempts[0] ?? '', /primary\/gpt-x[\s\S]*failed[\s\S]*500, provider_failed/);
      assert.match(attempts[2] ?? '', /backup\/other-y[\s\S]*served/);
      await assertAccessible(page, `call, ${name}`);
      await assertNotWider(page, `call, ${name}`);
    });

  it('filters calls, and says when no call fits', async () => {
    const page = await open();
    await goTo(page, '/calls');
    await page.getByLabel('Outcome').selectOption('failed');
    await page.getByText('No call matches these filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.locator('main tbody tr').first().waitFor();
    await page.getByLabel('Request id').fill('first');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.locator('.attempts li').first().waitFor();
  });
});
