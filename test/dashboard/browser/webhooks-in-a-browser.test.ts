import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import { adminKey, type ServiceProcess, startService, temporaryFolder } from '#test/support/service/service-process.ts';
import { WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import {
  assertAccessible,
  assertNoBrokenWord,
  assertNotWider,
  type Dashboard,
  goTo,
  keepPicture,
  openDashboard,
  screens,
} from './open-dashboard.ts';

describeInBrowser('webhooks of the dashboard in a browser @long', () => {
  const folder = temporaryFolder();
  const receiver = new WebhookReceiver();
  let service: ServiceProcess;
  let browser: Browser;
  let dashboard: Dashboard | null = null;
  /** The endpoints at the start: one whose receiver accepts, one whose receiver fails, one whose receiver is gone. */
  const endpoints = { accepting: '', failing: '', gone: '' };

  before(async () => {
    await receiver.start();
    receiver.answer = (response, { path }) => response.writeHead({ '/failing': 500, '/gone': 410 }[path] ?? 204).end();
    const environment = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
    [service, browser] = await Promise.all([startService({ dataDir: folder.path, environment }), launchBrowser()]);
    const { client } = service;
    for (const name of Object.keys(endpoints) as Array<keyof typeof endpoints>) {
      const body = { url: `${receiver.url}/${name}`, eventTypes: ['FlowCreated'], description: `A receiver: ${name}` };
      endpoints[name] = expectStatus(await client.post<{ id: string }>('/v1/webhook-endpoints', body), 201).id;
    }
    const { projectId } = expectStatus(await client.get<{ projectId: string }>('/v1/me'), 200);
    expectStatus(await client.post(`/v1/projects/${projectId}/flows`, { name: 'Hours', flowSchema: {} }), 201);
    for (const id of Object.values(endpoints)) await eventually(() => isTried(id), `${id} is tried`);
    await eventually(
      async () => (await statusOf(endpoints.gone)) === 'disabled',
      'the endpoint that is gone is disabled',
    );
  });
  afterEach(async () => {
    await dashboard?.close();
    dashboard = null;
  });
  after(async () => {
    await browser?.close();
    await service?.kill();
    await receiver.close();
    folder.remove();
  });

  const open = async (options = {}) => {
    dashboard = await openDashboard(browser, service.url, adminKey, options);
    return dashboard;
  };
  const isTried = async (id: string) => {
    const reply = await service.client.get<{ deliveries: object[] }>(`/v1/webhook-endpoints/${id}/deliveries`);
    return expectStatus(reply, 200).deliveries.length > 0;
  };
  const statusOf = async (id: string) =>
    expectStatus(await service.client.get<{ status: string }>(`/v1/webhook-endpoints/${id}`), 200).status;

  for (const { name, options } of screens) {
    it(`shows endpoints and their deliveries, accessible and not wider than the screen (${name})`, async () => {
      const { page, complaints } = await open(options);
      const views = {
        'webhooks-with-data': ['/webhooks', 'A receiver: gone'],
        'webhook-accepting': [`/webhooks/${endpoints.accepting}`, 'delivered'],
        'webhook-failing': [`/webhooks/${endpoints.failing}`, 'Every try has failed since'],
        'webhook-gone': [`/webhooks/${endpoints.gone}`, 'its receiver answered 410'],
      } as const;
      for (const [view, [path, text]] of Object.entries(views)) {
        await goTo(page, path);
        await page.getByText(text).first().waitFor();
        await assertNotWider(page, view);
        await assertNoBrokenWord(page, `${view}, ${name}`);
        await assertAccessible(page, `${view}, ${name}`);
        await keepPicture(page, `${view}-${name}`);
      }
      assert.deepEqual(complaints, []);
    });
  }

  it('lists each endpoint with its status', async () => {
    const { page } = await open();
    await goTo(page, '/webhooks');
    const rows = await page.locator('main tbody tr').allInnerTexts();
    const shown = Object.keys(endpoints).map(
      (name) => rows.find((row) => row.includes(`/${name}`))?.match(/enabled|disabled/)?.[0],
    );
    assert.deepEqual(shown, ['enabled', 'enabled', 'disabled']);
  });

  it('shows endpoints that the service disabled on the overview', async () => {
    const { page } = await open();
    await goTo(page, '');
    const items = page.locator('.attention li');
    await items.filter({ hasText: '/gone gets no webhooks: its receiver answered 410' }).waitFor();
    assert.equal(await items.count(), 1);
    await items.getByRole('link', { name: 'Open' }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
  });

  it('creates an endpoint, shows its secret once, and sends the endpoint a test that the secret verifies', async () => {
    const { page } = await open();
    await goTo(page, '/webhooks');
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByLabel('Address').fill(`${receiver.url}/made`);
    await page.getByLabel('Find a type').fill('renamed');
    await page.getByLabel('FlowRenamed').check();
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    const secret = (
      await page
        .getByText(/^whsec_/)
        .first()
        .innerText()
    ).trim();
    await page.getByRole('link', { name: `${receiver.url}/made` }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    const message = await eventually(() => receiver.at('/made')[0] ?? null, 'the test has come');
    new Webhook(secret).verify(message.body, message.headers as Record<string, string>);
    await page.locator('#deliveries', { hasText: 'WebhookTestRequested' }).waitFor();
    assert.equal(await page.getByText(/^whsec_/).count(), 0);
  });

  it('enables an endpoint whose receiver works again', async () => {
    const { page } = await open();
    receiver.answer = (response) => response.writeHead(204).end();
    await goTo(page, `/webhooks/${endpoints.gone}`);
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.locator('dialog').getByRole('button', { name: 'Enable', exact: true }).click();
    await page.locator('#deliveries', { hasText: 'delivered' }).waitFor();
    assert.equal(await statusOf(endpoints.gone), 'enabled');
    assert.equal(await page.getByText('its receiver answered 410').count(), 0);
  });
});
