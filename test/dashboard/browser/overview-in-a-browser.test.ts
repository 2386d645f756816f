import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { historyOfType } from '#domain/histories.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { type LoggedEvent, readLog } from '#test/e2e/support/stores.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import { adminKey, type ServiceProcess, startService, temporaryFolder } from '#test/support/service/service-process.ts';
import { openDashboard, settled } from './open-dashboard.ts';

describeInBrowser('overview of the dashboard in a browser', () => {
  const folder = temporaryFolder();
  let service: ServiceProcess;
  let browser: Browser;

  before(async () => {
    [service, browser] = await Promise.all([startService({ dataDir: folder.path }), launchBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await service?.kill();
    folder.remove();
  });

  /** Creates flows and calls, and restarts the service, because a node stores metered calls when it stops. */
  async function fill(): Promise<void> {
    const { client } = service;
    const { projectId } = expectStatus(await client.get<{ projectId: string }>('/v1/me'), 200);
    for (const name of ['Hours', 'Delivery', 'Short-lived']) {
      const made = await client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, { name, flowSchema: {} });
      const { id } = expectStatus(made, 201);
      if (name === 'Short-lived') expectStatus(await client.remove(`/v1/flows/${id}`), 204);
    }
    const call = { model: 'sandbox', messages: [{ role: 'user', content: 'Hello' }] };
    for (let count = 0; count < 3; count += 1) expectStatus(await client.post('/v1/chat/completions', call), 200);
    await service.stop();
    service = await startService({ dataDir: folder.path });
  }

  it('shows the figures of the log', async () => {
    await fill();
    const { page, complaints, refused, close } = await openDashboard(browser, service.url, adminKey);
    await settled(page);
    await page.locator('#latest', { hasText: 'Short-lived' }).waitFor();
    const shown = {
      calls: numberIn(await chartOf(page, 'Calls a minute'), /: ([\d,]+) in all/),
      errors: numberIn(await chartOf(page, 'Errors'), /: ([\d,]+) of [\d,]+$/),
      events: numberIn(await panel(page, 'Events an hour').locator('.delta').innerText(), /^([\d,]+) in all$/),
      ofFlows: numberIn(await panel(page, 'Flows and versions').locator('.figure').innerText(), /^([\d,]+)/),
      ofKeys: numberIn(await panel(page, 'Keys and customers').locator('.figure').innerText(), /^([\d,]+)/),
    };
    assert.deepEqual(complaints, []);
    // The feed itself has the name, even of a deleted resource.
    assert.deepEqual(refused, []);
    assert.equal(shown.calls, 3);
    await close();
    await service.stop();
    assert.deepEqual(shown, countedFrom(await readLog(folder.path)));
  });
});

/** The panel with a title. */
function panel(page: Page, title: string) {
  return page.locator('section.panel', { has: page.locator('h3', { hasText: title }) });
}

/** The accessible description of a panel's chart. */
async function chartOf(page: Page, title: string): Promise<string> {
  return (await panel(page, title).locator('[role="img"]').getAttribute('aria-label')) ?? '';
}

function numberIn(text: string, form: RegExp): number {
  const [, digits] = form.exec(text) ?? assert.fail(`no figure is in "${text}"`);
  return Number(digits?.replaceAll(',', ''));
}

interface RecordedUsage {
  readonly usage: ReadonlyArray<{ readonly calls: number; readonly outcome: string }>;
}

/** The same figures, counted from the log. */
function countedFrom(log: ReadonlyArray<LoggedEvent>) {
  const usage = log
    .filter(({ type }) => type === 'UsageRecorded')
    .flatMap(({ data }) => (JSON.parse(data) as RecordedUsage).usage);
  const sum = (entries: RecordedUsage['usage']) => entries.reduce((total, { calls }) => total + calls, 0);
  const kinds = log.flatMap(
    ({ type, data, stream }) => historyOfType(type)?.resource(JSON.parse(data), streamKeyOf(stream)).kind ?? [],
  );
  const ofKinds = (...wanted: ReadonlyArray<string>) => kinds.filter((kind) => wanted.includes(kind)).length;
  return {
    calls: sum(usage),
    errors: sum(usage.filter(({ outcome }) => outcome !== 'served')),
    events: kinds.length,
    ofFlows: ofKinds('flow', 'flow-version'),
    ofKeys: ofKinds('key', 'customer', 'organization', 'project'),
  };
}
