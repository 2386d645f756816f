import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { profileContents } from '#test/e2e/support/operations.ts';
import { newKey } from '#test/e2e/support/tenants.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import type { Client } from '#test/support/service/client.ts';
import { adminKey, type ServiceProcess, startService, temporaryFolder } from '#test/support/service/service-process.ts';
import { assertAccessible, type Dashboard, goTo, openDashboard } from './open-dashboard.ts';

interface Version {
  readonly id: string;
  readonly version: number;
  readonly isActive: boolean;
}

describeInBrowser('conflicts on the dashboard in a browser @long', () => {
  const folder = temporaryFolder();
  let service: ServiceProcess;
  let browser: Browser;
  let dashboard: Dashboard;
  let page: Page;
  /** A client of another user, whose key is named K. */
  let other: Client;
  let flowId: string;
  let second: string;

  before(async () => {
    [service, browser] = await Promise.all([startService({ dataDir: folder.path }), launchBrowser()]);
    const { projectId } = expectStatus(await service.client.get<{ projectId: string }>('/v1/me'), 200);
    other = service.client.as((await newKey(service.client, projectId, 'project')).key);
  });
  beforeEach(async () => {
    const { projectId } = expectStatus(await other.get<{ projectId: string }>('/v1/me'), 200);
    const made = await other.post<{ id: string }>(`/v1/projects/${projectId}/flows`, { name: 'Hours', flowSchema: 1 });
    flowId = expectStatus(made, 201).id;
    const version = await other.post<{ id: string }>(`/v1/flows/${flowId}/versions`, { flowSchema: 2 });
    second = expectStatus(version, 201).id;
    dashboard = await openDashboard(browser, service.url, adminKey);
    page = dashboard.page;
    await goTo(page, `/flows/${flowId}?version=${second}`);
  });
  afterEach(() => dashboard?.close());
  after(async () => {
    await browser?.close();
    await service?.kill();
    folder.remove();
  });

  const dialog = () => page.locator('dialog');
  const rename = async (name: string) => expectStatus(await other.patch(`/v1/flows/${flowId}`, { name }), 200);
  const activeVersion = async () => {
    const reply = await other.get<{ versions: Version[] }>(`/v1/flows/${flowId}/versions`);
    return expectStatus(reply, 200).versions.find(({ isActive }) => isActive)?.version;
  };

  it('names who changed a flow before an activation, and activates the version after a second confirmation', async () => {
    await page.getByRole('button', { name: 'Activate version 2' }).click();
    const activate = dialog().getByRole('button', { name: 'Activate version 2' });
    await dialog().getByText('Version 2 will be activated').waitFor();
    await rename('Evenings');
    await rename('Nights');
    await activate.click();
    const alert = dialog().getByRole('alert');
    await alert.getByText('K, ').waitFor();
    const text = await alert.innerText();
    assert.match(text, /^Somebody was faster\. K, just now: .*Nights.* 1 earlier change came with it\./);
    assert.equal(await activate.isDisabled(), true);
    assert.equal(await activeVersion(), 1);
    await assertAccessible(page, 'conflict');
    await alert.getByRole('button', { name: 'Look again' }).click();
    await alert.waitFor({ state: 'detached' });
    await activate.click();
    await page.getByText('Version 2 is active.').waitFor();
    assert.equal(await activeVersion(), 2);
    assert.deepEqual(dashboard.complaints, []);
  });

  it('names who changed a flow before an edit is saved, and shows that change on request', async () => {
    await page.getByRole('button', { name: 'Describe' }).click();
    await dialog().getByLabel('Name').fill('Mine');
    await rename('Theirs');
    await dialog().getByRole('button', { name: 'Save' }).click();
    const alert = dialog().getByRole('alert');
    await alert.getByText('Theirs').waitFor();
    assert.match(await alert.innerText(), /^Somebody was faster\./);
    await alert.getByRole('button', { name: 'Discard and look again' }).click();
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
    assert.equal(await dialog().count(), 0);
  });

  it('names who changed an agent profile before an edit is saved', async () => {
    const { projectId } = expectStatus(await other.get<{ projectId: string }>('/v1/me'), 200);
    const profile = { ...profileContents, name: 'Desk' };
    const path = `/v1/projects/${projectId}/agent-profiles`;
    const { id } = expectStatus(await other.post<{ id: string }>(path, profile), 201);
    await goTo(page, '/agent-profiles');
    await page.getByRole('button', { name: 'Desk' }).click();
    await dialog().getByLabel('Name').fill('Mine');
    expectStatus(await other.put(`/v1/agent-profiles/${id}`, { ...profile, name: 'Theirs' }), 200);
    await dialog().getByRole('button', { name: 'Save' }).click();
    const alert = dialog().getByRole('alert');
    await alert.getByText('K, ').waitFor();
    assert.match(await alert.innerText(), /^Somebody was faster\./);
    await alert.getByRole('button', { name: 'Discard and look again' }).click();
    await page.getByRole('button', { name: 'Theirs' }).click();
    await dialog().getByLabel('Name').fill('Mine');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Mine' }).waitFor();
  });
});
