import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { GatewayScenario, toolCallAnswer } from '#test/e2e/support/gateway-scenario.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import { error, json } from '#test/gateway/support/fake-provider.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import { adminKey } from '#test/support/service/service-process.ts';
import {
  assertAccessible,
  type Dashboard,
  goTo,
  holds,
  keepPicture,
  openDashboard,
  screens,
} from './open-dashboard.ts';

/** Whether a chart has a pixel in the colour of bands. */
const bandIsDrawn = `(() => {
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--chart-band');
  probe.fillRect(0, 0, 1, 1);
  const wanted = [...probe.getImageData(0, 0, 1, 1).data];
  return [...document.querySelectorAll('.panels.four canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) if (wanted.every((each, index) => data[at + index] === each)) return true;
    return false;
  });
})()`;

describeInBrowser('gateway of the dashboard in a browser @long', () => {
  let scenario: GatewayScenario;
  let browser: Browser;
  let dashboard: Dashboard;

  before(async () => {
    [scenario, browser] = await Promise.all([GatewayScenario.begin(), launchBrowser()]);
    const { client } = scenario.service;
    scenario.primary.answers(error(500, 'server_error'));
    scenario.backup.answers(json(toolCallAnswer));
    const call = { model: 'large', messages: [{ role: 'user', content: 'Hello' }] };
    for (let count = 0; count < 5; count += 1) expectStatus(await client.post('/v1/chat/completions', call), 200);
    await eventually(async () => {
      const { rows } = expectStatus(await client.get<{ rows: { calls: number }[] }>('/v1/usage'), 200);
      return rows.reduce((sum, { calls }) => sum + calls, 0) === 5;
    }, 'every call is metered');
  });
  afterEach(() => dashboard?.close());
  after(async () => {
    await browser?.close();
    await scenario?.end();
  });

  for (const { name, options } of screens) {
    it(`marks in all panels the time in which a circuit is open (${name})`, async () => {
      dashboard = await openDashboard(browser, scenario.service.url, adminKey, options);
      const { page, complaints } = dashboard;
      await goTo(page, '/gateway?range=1h');
      await holds(page, `${bandIsDrawn}.length === 4 && ${bandIsDrawn}.every(Boolean)`);
      const labels = await page
        .locator('.panels.four [role="img"]')
        .evaluateAll((charts) => charts.map((chart) => chart.ariaLabel));
      for (const label of labels)
        assert.match(label ?? '', /; primary\/gpt-x got no calls from \d\d:\d\d:\d\d to \d\d:\d\d:\d\d/);
      await page.getByText('a target got no calls').waitFor();
      await assertAccessible(page, `gateway with an incident, ${name}`);
      await keepPicture(page, `gateway-incident-${name}`);
      assert.deepEqual(complaints, []);
    });
  }

  it('limits usage to the chosen project', async () => {
    const projectId = await newProject(scenario.service.client);
    dashboard = await openDashboard(browser, scenario.service.url, adminKey);
    const { page } = dashboard;
    await goTo(page, '/gateway?range=1h');
    await page.locator('#usage tbody tr', { hasText: 'large' }).waitFor();
    await goTo(page, `/gateway?range=1h&project=${projectId}`);
    await page.locator('#usage', { hasText: 'No calls in this time' }).waitFor();
  });
});
