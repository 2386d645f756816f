import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { describeInBrowser, launchBrowser } from '#test/support/service/chromium.ts';
import { Client } from '#test/support/service/client.ts';
import { DemoProcess, variablesIn } from '#test/support/service/demo-process.ts';
import {
  adminKey,
  poll,
  type ServiceProcess,
  startService,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import {
  assertAccessible,
  assertNoBrokenWord,
  assertNotWider,
  type Dashboard,
  goTo,
  holds,
  keepPicture,
  openDashboard,
  screens,
  settled,
} from './open-dashboard.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Version {
  readonly id: string;
  readonly version: number;
  readonly isActive: boolean;
}

const waitMs = 30_000;

describeInBrowser('dashboard in a browser @long', () => {
  const folder = temporaryFolder();
  let service: ServiceProcess;
  let browser: Browser;
  let admin: Client;
  let variables: Readonly<Record<string, string>>;
  let dashboard: Dashboard | null = null;

  before(async function () {
    this.timeout(300_000);
    service = await startService({ dataDir: folder.path });
    admin = service.client;
    const filling = new DemoProcess({ environment: { SWITCHYARD_API_KEY: adminKey }, args: ['--url', service.url] });
    variables = variablesIn((await filling.ended()).stdout);
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await dashboard?.close();
    dashboard = null;
  });
  after(async () => {
    await browser?.close();
    await service?.kill();
    folder.remove();
  });

  const open = async (
    ...[key = adminKey, options = {}]: [key?: string, options?: Parameters<typeof openDashboard>[3]]
  ) => {
    dashboard = await openDashboard(browser, service.url, key, options);
    return dashboard;
  };
  const get = async <Answer>(path: string, client = admin): Promise<Answer> => (await client.get(path)).body as Answer;
  const flowsOf = async (client = admin) => {
    const { projects } = await get<{ projects: ReadonlyArray<Named> }>('/v1/projects', client);
    const lists = await Promise.all(
      projects.map(({ id }) => get<{ flows: ReadonlyArray<Named> }>(`/v1/projects/${id}/flows`, client)),
    );
    return lists.flatMap(({ flows }) => flows);
  };
  const versionsOf = (flowId: string) => get<{ versions: ReadonlyArray<Version> }>(`/v1/flows/${flowId}/versions`);
  /** A flow with more than one version. */
  const changedFlow = async () => {
    const { resources } = await get<{ resources: { flows: ReadonlyArray<{ key: string; flowId: string }> } }>(
      `/v1/instances/${variables.UPGRADED}`,
    );
    return resources.flows.find(({ key }) => key === 'greeting')?.flowId ?? '';
  };

  for (const { name, options } of screens) {
    it(`shows every view without an error, accessible and not wider than the screen (${name})`, async () => {
      const { page, complaints } = await open(adminKey, options);
      const flowId = await changedFlow();
      const [drawn] = (await flowsOf()).filter((flow) => flow.name === 'Where is my parcel?');
      const [{ organizationId } = { organizationId: '' }] = (
        await get<{ customers: ReadonlyArray<{ organizationId: string }> }>('/v1/partner/customers')
      ).customers;
      const views = {
        overview: '',
        flows: '/flows',
        flow: `/flows/${flowId}`,
        graph: `/flows/${drawn?.id}`,
        templates: `/templates`,
        upgrade: `/templates?instance=${variables.OLD}`,
        undone: `/templates?instance=${variables.UNDONE}`,
        gateway: '/gateway',
        calls: '/calls',
        'phone-numbers': '/phone-numbers',
        'agent-profiles': '/agent-profiles',
        customers: '/customers',
        customer: `/customers/${organizationId}`,
        audit: '/audit',
        projections: '/projections',
        keys: '/keys',
        webhooks: '/webhooks',
      };
      for (const [view, path] of Object.entries(views)) {
        await goTo(page, path);
        const alerts = await page.locator('main [role="alert"]').allInnerTexts();
        assert.deepEqual(alerts, [], `${view} shows an error`);
        await assertNotWider(page, view);
        await assertNoBrokenWord(page, `${view}, ${name}`);
        await assertAccessible(page, `${view}, ${name}`);
        await keepPicture(page, `${view}-${name}`);
      }
      assert.deepEqual(complaints, []);
    });
  }

  it('keeps the types of audit entries on one line beside resources with long names on a narrow screen', async () => {
    const { page } = await open(adminKey, screens.find(({ name }) => name === '360')?.options);
    await goTo(page, '/audit');
    await page.evaluate(`for (const link of document.querySelectorAll('main tbody td.later.end > *'))
      link.textContent = 'Help line of Avon Valley Parcels, Bristol'`);
    await assertNoBrokenWord(page, 'audit with long names');
    await assertNotWider(page, 'audit with long names');
  });

  it('shows an accessible placeholder while an answer is slow, and then the content', async () => {
    const { page } = await open();
    const answer = Promise.withResolvers<void>();
    await page.route('**/v1/partner/customers', async (route) => {
      await answer.promise;
      await route.continue();
    });
    const settling = goTo(page, '/customers');
    await page.waitForSelector('main [role="status"]');
    await assertAccessible(page, 'placeholder');
    answer.resolve();
    await settling;
    await page.waitForSelector('main tbody tr');
  });

  it('refuses a key without access, stores no key, and signs out', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(waitMs);
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await page.goto(`${service.url}/`);
    assert.equal(new URL(page.url()).pathname, '/dashboard');
    await page.getByLabel('API key').fill(`sy_live_${'x'.repeat(40)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key opens nothing here').waitFor();
    await assertAccessible(page, 'sign in');
    await page.getByLabel('API key').fill(adminKey);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.shell');
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    assert.ok(!stored.includes(adminKey) && addresses.every((address) => !address.includes(adminKey)));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await context.close();
  });

  it('shows the figures that the API gives', async () => {
    const { page } = await open();
    await goTo(page, '/flows');
    const flows = await flowsOf();
    assert.equal(await page.locator('main tbody tr').count(), flows.length);
    await goTo(page, '/templates');
    const { instances } = await get<{ instances: ReadonlyArray<Named> }>('/v1/instances');
    assert.match(await page.locator('.facts').innerText(), new RegExp(`Instances\\s*${instances.length}\\b`));
    assert.equal(await page.locator('[role="row"][aria-level="3"]').count(), instances.length);
    await goTo(page, '/audit');
    const { entries } = await get<{ entries: ReadonlyArray<{ summary: string; type: string }> }>('/v1/audit?limit=50');
    const shown = () => page.locator('main tbody tr td:nth-child(3)').allInnerTexts();
    const types = entries.map(({ type }) => type);
    assert.deepEqual(
      await shown(),
      types.filter((type) => type !== 'InstanceProgressed'),
    );
    await page.getByRole('button', { name: 'steps of operations hidden' }).click();
    await settled(page);
    assert.deepEqual(await shown(), types);
    await goTo(page, '');
    const total = (await get<{ totals: { instances: number } }>('/v1/dashboard/instances')).totals.instances;
    assert.equal(total, instances.length);
    await page.getByText(`${total}, by template version`).waitFor();
  });

  it('activates a version after a dry run in sentences, and activates the old version again', async () => {
    const { page } = await open();
    const flowId = await changedFlow();
    const { versions } = await versionsOf(flowId);
    const active = versions.find(({ isActive }) => isActive);
    const [first] = versions;
    assert.ok(active !== undefined && first !== undefined && first !== active);
    await goTo(page, `/flows/${flowId}?version=${first.id}`);
    await page.getByRole('button', { name: `Activate version ${first.version}` }).click();
    await page.getByText(`Version ${first.version} will be activated instead of version ${active.version}.`).waitFor();
    assert.equal((await versionsOf(flowId)).versions.find(({ isActive }) => isActive)?.id, active.id);
    await page
      .locator('dialog')
      .getByRole('button', { name: `Activate version ${first.version}` })
      .click();
    await page.getByText(`Version ${first.version} is active.`).waitFor();
    assert.equal((await versionsOf(flowId)).versions.find(({ isActive }) => isActive)?.id, first.id);
    await page.getByRole('button', { name: `Activate ${active.version} again` }).click();
    const back = await poll(
      async () => (await versionsOf(flowId)).versions.find(({ id, isActive }) => isActive && id === active.id) ?? null,
      waitMs,
    );
    assert.ok(back !== null);
  });

  it('shows another user’s change without a reload', async () => {
    const { page } = await open();
    await goTo(page, '');
    await page.locator('.live b', { hasText: /^Live$/ }).waitFor();
    const [flow] = await flowsOf();
    await admin.patch(`/v1/flows/${flow?.id}`, { description: `Changed at ${Date.now()}` });
    await page.locator('.feed li.is-new').first().waitFor();
    assert.match(await page.locator('.feed li.is-new').first().innerText(), new RegExp(flow?.name ?? 'no flow'));
  });

  it('supports the keyboard in the palette, the views, the rows and the tree', async () => {
    const { page } = await open();
    await settled(page);
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('heading', { name: 'Flows', level: 1 }).waitFor();
    await settled(page);
    await page.keyboard.press('j');
    assert.equal(await page.evaluate<number>("document.activeElement.closest('tbody tr')?.rowIndex"), 1);
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Go to or do' }).fill('parcel kestrel');
    await page.locator('[role="option"][aria-selected="true"]', { hasText: 'Where is my parcel?' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Where is my parcel?', level: 1 }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await goTo(page, '/templates');
    await page.locator('[role="row"][aria-level="3"]').first().waitFor();
    await page.locator('[role="row"][tabindex="0"]').focus();
    const rows = await page.locator('[role="row"]').count();
    await page.keyboard.press('ArrowLeft');
    await holds(page, `document.querySelectorAll('[role="row"]').length < ${rows}`);
    await page.keyboard.press('ArrowRight');
    await holds(page, `document.querySelectorAll('[role="row"]').length === ${rows}`);
  });

  for (const protocol of ['Chat completions', 'Messages'])
    it(`shows a streamed answer in the playground as text: ${protocol}`, async () => {
      const { page } = await open();
      await goTo(page, '/gateway');
      await page.getByLabel('Protocol').selectOption(protocol);
      await page.getByLabel('Message', { exact: true }).fill('Is <b>this</b> bold?');
      await page.keyboard.press('Control+Enter');
      await page.locator('.chat', { hasText: 'Is <b>this</b> bold?' }).waitFor();
      await page.getByText('answered by').waitFor();
      await holds(page, `document.querySelector('.caret') === null`);
      assert.equal(await page.locator('.chat b').count(), 0);
      assert.ok((await page.locator('.turn-of').last().innerText()).includes('<b>this</b>'));
    });

  it('shows a partner its customers, and neither projections nor other tenants’ resources', async () => {
    const { page, refused } = await open(variables.PARTNER);
    const navigation = page.getByRole('navigation', { name: 'Main', exact: true });
    await navigation.getByRole('link', { name: 'Customers' }).waitFor();
    assert.equal(await navigation.getByRole('link', { name: 'Projections' }).count(), 0);
    await goTo(page, '/customers');
    const partner = new Client(service.url, variables.PARTNER ?? null);
    const { customers } = await get<{ customers: ReadonlyArray<unknown> }>('/v1/partner/customers', partner);
    await holds(page, `document.querySelectorAll('main tbody tr').length === ${customers.length}`);
    await goTo(page, '/flows');
    assert.equal(await page.locator('main tbody tr').count(), (await flowsOf(partner)).length);
    const ofOrganizations = refused.filter((request) => request.includes('/v1/organizations/'));
    assert.deepEqual(ofOrganizations, [], 'a partner may not read organizations one by one');
  });
});
