import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { announcedOwner, runningOwner } from '#app/data-directory.ts';
import type { InstanceDetails } from '#domain/instance/record.ts';
import { long } from '#test/support/run/long.ts';
import { Client } from '#test/support/service/client.ts';
import { type DemoExit, DemoProcess, variablesIn } from '#test/support/service/demo-process.ts';
import {
  adminKey,
  poll,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { expectStatus } from './support/expect.ts';

interface Call {
  readonly attempts: ReadonlyArray<{ readonly result: string }>;
}

const ready = 'Stop it with Ctrl-C';
const settleMs = 60_000;

describe('npm run demo', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  let dataDir: string;
  let service: ServiceProcess | null;
  let demo: DemoProcess | null;

  beforeEach(() => {
    folder = temporaryFolder();
    dataDir = join(folder.path, 'demo');
    service = null;
    demo = null;
  });

  afterEach(async () => {
    await demo?.stop();
    await service?.kill();
    folder.remove();
  });

  /** Starts a demo with its own service, on any port. */
  function onOwn(...args: ReadonlyArray<string>): DemoProcess {
    demo = new DemoProcess({ environment: { DATA_DIR: dataDir, PORT: '0' }, args });
    return demo;
  }

  const filling = (url: string, key: string | undefined) =>
    new DemoProcess({ environment: { SWITCHYARD_API_KEY: key }, args: ['--url', url] }).ended();

  /** Asserts that a demo failed. @returns its one line on standard error */
  function refusal({ code, stderr }: DemoExit): string {
    assert.equal(code, 1, stderr);
    const [line = '', ...more] = stderr.trimEnd().split('\n');
    assert.deepEqual(more, []);
    assert.match(line, /^demo: /);
    return line;
  }

  /** The shell commands that a demo prints work as they are. */
  async function expectCommandsWork(stdout: string): Promise<void> {
    const { UNDONE = '', TRACKER_3 = '', URL: url = '', PARTNER = '' } = variablesIn(stdout);
    const pasted = stdout.split('\n').filter((line) => /^ {2}(?:[A-Z_0-9]+=|curl )/.test(line));
    const { stdout: output, stderr } = await promisify(execFile)('bash', ['--norc', '-euc', pasted.join('\n')], {
      timeout: 60_000,
    });
    assert.equal(stderr, '');
    const answers = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(answers.length, pasted.filter((line) => line.startsWith('  curl ')).length);
    assert.deepEqual(
      answers.flatMap(({ code }) => code ?? []),
      ['key-type-not-allowed', 'instance-drifted'],
    );
    const [, , , preview] = answers;
    assert.deepEqual(preview.fields, {
      added: ['emergency_number', 'recall_months'],
      removed: [],
      missing: ['emergency_number'],
    });

    // The last command upgrades the instance whose upgrade was undone.
    const partner = new Client(url, PARTNER);
    try {
      const upgraded = await poll(async () => {
        const { body } = await partner.get<InstanceDetails>(`/v1/instances/${UNDONE}`);
        return body.operation === null ? body : null;
      }, settleMs);
      assert.deepEqual([upgraded?.templateVersionId, upgraded?.lastOperation?.outcome], [TRACKER_3, 'succeeded']);
    } finally {
      await partner.close();
    }
  }

  /** The demo has a month of history, calls with prices, a fallback, and a webhook that was repeated. */
  async function expectMonth(admin: Client, partnerKey: string): Promise<void> {
    const partner = admin.as(partnerKey);
    const { days, events } = expectStatus(
      await admin.get<{ days: string[]; events: number[] }>('/v1/dashboard/activity'),
      200,
    );
    const now = Date.now();
    assert.ok(events.filter((count) => count > 0).length >= 20, `${days.length} days: ${events}`);
    const from = new Date(now - 30 * 86_400_000).toISOString();
    const usagePath = `/v1/usage?from=${from}&until=${new Date(now).toISOString()}&groupBy=day`;
    const { rows } = expectStatus(await admin.get<{ rows: { calls: number; cost: number | null }[] }>(usagePath), 200);
    assert.ok(
      rows.length >= 28 && rows.every(({ calls, cost }) => calls > 0 && (cost ?? 0) > 0),
      `${rows.length} days`,
    );

    const hasFallback = await poll(async () => {
      const { body } = await partner.get<{ calls: Call[] }>('/v1/gateway/calls?model=steady');
      return body.calls.some(({ attempts }) => attempts.map(({ result }) => result).join() === 'failed,served');
    }, settleMs);
    assert.ok(hasFallback, 'no call has a fallback');

    const { webhookEndpoints } = expectStatus(
      await partner.get<{ webhookEndpoints: { id: string }[] }>('/v1/webhook-endpoints'),
      200,
    );
    const path = `/v1/webhook-endpoints/${webhookEndpoints[0]?.id}/deliveries`;
    const tries = await poll(async () => {
      const { body } = await partner.get<{ deliveries: { outcome: string; attempt: number }[] }>(path);
      return body.deliveries.some(({ outcome, attempt }) => outcome === 'delivered' && attempt > 1) ? body : null;
    }, settleMs);
    assert.ok(tries !== null, 'no webhook was repeated');
  }

  it(`creates the printed resources, prints commands that work, and keeps its service running until it is stopped ${long}`, async () => {
    const printed = await onOwn().printed(ready);
    const { URL: url = '', ADMIN = '', PARTNER = '', CUSTOMER = '', ...ids } = variablesIn(printed);
    const admin = new Client(url, ADMIN);
    const partner = admin.as(PARTNER);
    const instance = async (client: Client, id = '') =>
      expectStatus(await client.get<InstanceDetails>(`/v1/instances/${id}`), 200);
    try {
      const { templates } = expectStatus(await partner.get<{ templates: { id: string }[] }>('/v1/templates'), 200);
      assert.equal(templates.length, 2);
      for (const { id } of templates) {
        const path = `/v1/templates/${id}/versions`;
        const { versions } = expectStatus(await partner.get<{ versions: { publishedAt: string }[] }>(path), 200);
        assert.equal(versions.length, 3);
        assert.ok(versions.every(({ publishedAt }) => publishedAt !== null));
      }
      const { customers } = expectStatus(await partner.get<{ customers: object[] }>('/v1/partner/customers'), 200);
      assert.equal(customers.length, 5);
      const { instances } = expectStatus(await partner.get<{ instances: InstanceDetails[] }>('/v1/instances'), 200);
      assert.deepEqual(
        instances.map(({ status }) => status),
        Array(5).fill('active'),
      );

      const upgraded = await instance(partner, ids.UPGRADED);
      assert.equal(upgraded.templateVersionId, ids.RECEPTION_3);
      assert.ok(upgraded.phoneNumberRequirements[0]?.phoneNumberId);
      assert.equal((await instance(admin.as(CUSTOMER), ids.CHANGED)).drifted?.length, 1);
      const undone = await instance(partner, ids.UNDONE);
      assert.deepEqual(
        [undone.lastOperation?.outcome, undone.lastOperation?.templateVersionId],
        ['undone', ids.TRACKER_3],
      );
      assert.match(
        undone.lastOperation?.reason ?? '',
        /^The flow "track" is too large to be stored\..*upgrade again with shorter newFieldValues/,
      );
      await expectMonth(admin, PARTNER);
      await expectCommandsWork(printed);
    } finally {
      await admin.close();
    }
    const { code, stdout, stderr } = await (demo?.stop() ?? assert.fail());
    assert.deepEqual([code, stderr], [0, '']);
    const again = `DATA_DIR=${dataDir} GATEWAY_CONFIG=examples/demo/gateway.json npm start`;
    assert.ok(stdout.endsWith(`Stopped. Start it again with: ${again}\n`), stdout);
    await assert.rejects(fetch(`${url}/healthz`));
  });

  it(`ends with --stop when everything is created, and the next run refuses the folder with instructions ${long}`, async () => {
    const { code, stdout, stderr } = await onOwn('--stop').ended();
    assert.deepEqual([code, stderr], [0, '']);
    const { ADMIN = '', UNDONE } = variablesIn(stdout);
    const line = refusal(await onOwn().ended());
    assert.ok(line.includes(`DATA_DIR=${dataDir} npm start`) && line.includes('name an empty folder'), line);

    service = await startService({ dataDir });
    const beside = refusal(await onOwn().ended());
    assert.ok(beside.includes(service.url) && beside.includes('name an empty folder'), beside);
    // The folder may hold anything, so no instruction may suggest to delete it.
    assert.ok(![line, beside].some((text) => text.includes('rm ')));
    const answer = await fetch(`${service.url}/v1/instances/${UNDONE}`, { headers: { 'x-api-key': ADMIN } });
    assert.equal(answer.status, 200);
  });

  it(`fills demo-data by default, on another port when the default port is in use ${long}`, async () => {
    // The port may already be in use, which serves the test as well.
    const usual = createServer().listen(8080, '127.0.0.1');
    await Promise.race([once(usual, 'listening'), once(usual, 'error')]).catch(() => undefined);
    const inside = { environment: {}, args: ['--stop'], folder: folder.path };
    try {
      const { code, stdout, stderr } = await new DemoProcess(inside).ended();
      assert.deepEqual([code, stderr], [0, '']);
      assert.notEqual(new URL(variablesIn(stdout).URL ?? '').port, '8080');
      assert.ok(stdout.includes('\nFilling the folder demo-data, '), stdout);
    } finally {
      usual.close();
    }
    assert.ok(existsSync(join(folder.path, 'demo-data', 'events.db')));
    const line = refusal(await new DemoProcess(inside).ended());
    assert.ok(line.includes('delete it (rm -r demo-data) and run this again'), line);
    assert.ok(line.includes('DATA_DIR=demo-data npm start'), line);
  });

  for (const [moment, isReached] of [
    ['while its service starts', () => true],
    ['half way', () => demo?.stdout.includes('Filling the folder') === true],
  ] as const) {
    it(`stops ${moment} with instructions, and leaves no service behind ${long}`, async () => {
      const asked = onOwn();
      const pid = await poll(async () => (isReached() ? (announcedOwner(dataDir)?.pid ?? null) : null), settleMs);
      assert.ok(pid !== null);
      // A frozen service keeps the demo from finishing before it is stopped.
      process.kill(pid, 'SIGSTOP');
      const stopping = asked.stop();
      process.kill(pid, 'SIGCONT');
      const line = refusal(await stopping);
      assert.equal(runningOwner(dataDir), null, 'the service still runs');
      assert.ok(line.includes('Stopped') && line.includes(`rm -r ${dataDir}`), line);
    });
  }

  it('stops while it makes its history, and leaves nothing behind', async () => {
    const temporary = join(folder.path, 'temporary');
    mkdirSync(temporary);
    demo = new DemoProcess({ environment: { DATA_DIR: dataDir, PORT: '0', TMPDIR: temporary } });
    await demo.printed('28 days ago');
    assert.equal(readdirSync(temporary).length, 1);
    assert.equal(refusal(await demo.stop()), 'demo: Stopped half way.');
    assert.ok(!existsSync(dataDir));
    assert.deepEqual(readdirSync(temporary), []);
  });

  it(`reports a refused request with its cause ${long}`, async () => {
    demo = new DemoProcess({ environment: { DATA_DIR: dataDir, PORT: '0', MAX_APPEND_BYTES: '4096' } });
    const line = refusal(await demo.ended());
    assert.match(line, /POST \/v1\/\S+ was answered with 413: /);
    assert.ok(!existsSync(dataDir));
  });

  it(`fills a running empty service once ${long}`, async () => {
    service = await startService({ dataDir: folder.path });
    const { code, stdout, stderr } = await filling(`${service.url}/`, adminKey);
    assert.deepEqual([code, stderr], [0, '']);
    const { URL: url, ADMIN, UPGRADED, PARTNER } = variablesIn(stdout);
    assert.deepEqual([url, ADMIN], [service.url, undefined]);
    assert.ok(!stdout.includes(adminKey));
    assert.ok(stdout.startsWith(`Filling ${service.url}, with everything dated now`), stdout);
    expectStatus(await service.client.as(PARTNER ?? '').get(`/v1/instances/${UPGRADED}`), 200);

    const again = refusal(await filling(service.url, adminKey));
    assert.match(again, /There is something on this platform already/);
    assert.match(refusal(await filling(service.url, PARTNER)), /An admin key is needed; this is a partner key/);
    const { customers } = expectStatus(await service.client.get<{ customers: object[] }>('/v1/partner/customers'), 200);
    assert.equal(customers.length, 5);
  });

  it(`reports wrong arguments, keys and addresses ${long}`, async () => {
    service = await startService({ dataDir: folder.path });
    assert.match(refusal(await filling(service.url, undefined)), /Set SWITCHYARD_API_KEY/);
    assert.match(refusal(await filling(service.url, `sy_live_${'x'.repeat(40)}`)), /answered with 401: /);
    assert.match(refusal(await filling('localhost', adminKey)), /--url must be/);
    const { url } = service;
    await service.stop();
    const gone = refusal(await filling(url, adminKey));
    assert.ok(gone.includes(url) && gone.includes('does not answer'), gone);

    const foreign = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(foreign, 'listening');
    const address = foreign.address();
    try {
      const port = typeof address === 'object' ? address?.port : 0;
      assert.match(refusal(await filling(`http://127.0.0.1:${port}`, adminKey)), /answered with something else/);
    } finally {
      foreign.close();
    }

    for (const [args, message] of [
      [['--stop', '--url', url], /^demo: --stop [^\n]+\n$/],
      [['--all'], /^demo: [^\n]*'--all'[^\n]*\n$/],
      [['now'], /^demo: [^\n]*'now'[^\n]*\n$/],
    ] as const) {
      const { code, stderr } = await new DemoProcess({ environment: { DATA_DIR: dataDir }, args }).ended();
      assert.equal(code, 1);
      assert.match(stderr, message);
    }
    assert.ok(!existsSync(dataDir));
    const help = await new DemoProcess({ environment: { DATA_DIR: dataDir }, args: ['--help'] }).ended();
    assert.deepEqual([help.code, help.stderr], [0, '']);
  });
});
