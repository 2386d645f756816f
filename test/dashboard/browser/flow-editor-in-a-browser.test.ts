import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import {
  adminKey,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import {
  assertAccessible,
  assertNotWider,
  type Dashboard,
  goTo,
  openDashboard,
  screens,
  settled,
} from './open-dashboard.ts';

interface Version {
  readonly id: string;
  readonly version: number;
  readonly flowSchema: { readonly nodes: Readonly<Record<string, { readonly say: string; readonly next: unknown }>> };
}

const flowSchema = {
  start: 'greet',
  nodes: { greet: { say: 'Good morning.', next: { hours: 'hours' } }, hours: { say: 'Nine to five.', next: null } },
};

describeInBrowser('editing a flow on the dashboard in a browser @long', () => {
  let folder: TemporaryFolder;
  let service: ServiceProcess;
  let browser: Browser;
  let dashboard: Dashboard;
  let page: Page;
  let flowId: string;

  before(async () => {
    folder = temporaryFolder();
    service = await startService({ dataDir: folder.path });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.kill();
    folder.remove();
  });
  beforeEach(async () => {
    const { projectId } = expectStatus(await service.client.get<{ projectId: string }>('/v1/me'), 200);
    const made = await service.client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, {
      name: 'Desk',
      flowSchema,
    });
    flowId = expectStatus(made, 201).id;
    await open();
  });
  afterEach(() => dashboard.close());

  const open = async (options = {}) => {
    dashboard = await openDashboard(browser, service.url, adminKey, options);
    ({ page } = dashboard);
    await goTo(page, `/flows/${flowId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByText('New version from version 1').waitFor();
  };
  const newest = async (): Promise<Version> => {
    const path = `/v1/flows/${flowId}/versions?sort=-createdAt&limit=1`;
    const { versions } = expectStatus(await service.client.get<{ versions: ReadonlyArray<Version> }>(path), 200);
    return versions[0] ?? assert.fail('there is no version');
  };
  const saveButton = () => page.getByRole('button', { name: 'Save as a new version' });

  it('changes texts of steps and answers in the graph, and saves them as a new version', async () => {
    assert.equal(await saveButton().isDisabled(), true);
    await page.getByLabel('say').fill('Good evening.');
    await page.getByLabel('Answer that leads to hours').fill('opening hours');
    await page.locator('.graph').getByText('hours', { exact: true }).last().click();
    await page.getByLabel('say').fill('Ten to six.');
    await saveButton().click();
    await page.getByText('Version 2 is created.').waitFor();
    const { version, flowSchema: saved } = await newest();
    assert.equal(version, 2);
    assert.deepEqual(saved, {
      start: 'greet',
      nodes: {
        greet: { say: 'Good evening.', next: { 'opening hours': 'hours' } },
        hours: { say: 'Ten to six.', next: null },
      },
    });
  });

  it('checks JSON while one types, and saves none that has a mistake', async () => {
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const area = page.getByLabel('flowSchema');
    const text = await area.inputValue();
    await area.fill(`${text},`);
    await page.getByText('This is not JSON').waitFor();
    assert.equal(await saveButton().isDisabled(), true);
    await area.fill(text.replace('Nine to five.', 'Closed.'));
    await saveButton().click();
    await page.getByText('Version 2 is created.').waitFor();
    assert.equal((await newest()).flowSchema.nodes.hours?.say, 'Closed.');
  });

  it('shows both texts when somebody was faster, and loses neither', async () => {
    await page.getByLabel('say').fill('Mine.');
    const theirs = { ...flowSchema, nodes: { ...flowSchema.nodes, hours: { say: 'Theirs.', next: null } } };
    expectStatus(await service.client.post(`/v1/flows/${flowId}/versions`, { flowSchema: theirs }), 201);
    await saveButton().click();
    await page.getByText('Somebody was faster.').waitFor();
    assert.equal(await page.getByLabel('say').inputValue(), 'Mine.');
    const lines = await page.getByRole('region', { name: 'Your text against theirs' }).innerText();
    assert.ok(lines.includes('Mine.') && lines.includes('Theirs.'), lines);
    await assertAccessible(page, 'both texts');
    await page.getByRole('button', { name: 'Save mine as a newer version' }).click();
    await page.getByText('Version 3 is created.').waitFor();
    assert.equal((await newest()).flowSchema.nodes.greet?.say, 'Mine.');
  });

  it('asks before unsaved text is left, by a link or by going back', async () => {
    await page.getByLabel('say').fill('Not saved.');
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await page.locator('nav.side').getByRole('link', { name: 'Audit' }).click();
    await page.goBack();
    assert.equal(await page.getByLabel('say').inputValue(), 'Not saved.');
    assert.equal(new URL(page.url()).pathname, `/dashboard/flows/${flowId}`);
    assert.deepEqual(
      asked,
      Array.from({ length: 2 }, () => 'Leave? What you have typed is not saved.'),
    );
    page.removeAllListeners('dialog');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('New version from version 1').waitFor({ state: 'detached' });
  });

  for (const { name, options } of screens)
    it(`is accessible and not wider than the screen (${name})`, async () => {
      await dashboard.close();
      await open(options);
      await settled(page);
      await assertAccessible(page, `editor, ${name}`);
      await assertNotWider(page, `editor, ${name}`);
      await page.getByRole('button', { name: 'JSON', exact: true }).click();
      await assertAccessible(page, `editor as JSON, ${name}`);
      await assertNotWider(page, `editor as JSON, ${name}`);
    });
});
