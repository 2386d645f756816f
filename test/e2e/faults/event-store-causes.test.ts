import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { makeCertificate } from '#test/support/eventstoredb/certificate.ts';
import { EventStoreDbClusterDouble } from '#test/support/eventstoredb/cluster-double.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import {
  type ServiceOptions,
  ServiceProcess,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const missingRight = /lacks rights: writing to streams whose names begin with `switchyard\.` needs `\$w`/;

/** A line of the log. */
interface Line {
  readonly level: string;
  readonly msg: string;
  readonly cause?: string;
  readonly stream?: string;
}

/** A service in this process or in another. */
type LoggingService = Pick<ServiceInProcess, 'client' | 'log'> & { readonly stop: () => Promise<unknown> };

/** A service, and the lines that it has written since a moment. */
class LoggedService {
  service: LoggingService;
  #from = 0;

  constructor(service: LoggingService) {
    this.service = service;
  }

  /** Takes another service, and forgets the lines of this one. */
  replace(service: LoggingService): void {
    this.service = service;
    this.#from = 0;
  }

  /** Forgets the lines so far. */
  begin(): void {
    this.#from = this.service.log.length;
  }

  /** The lines about EventStoreDB, and all warnings and errors. */
  outageLines(): ReadonlyArray<Line> {
    const text = this.service.log.slice(this.#from);
    const whole = text.slice(0, text.lastIndexOf('\n')).split('\n');
    const lines: ReadonlyArray<Line> = whole.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    return lines.filter(({ level, msg }) => level !== 'info' || msg.startsWith('EventStoreDB '));
  }

  async wrote(message: string): Promise<void> {
    await eventually(() => this.outageLines().some(({ msg }) => msg === message), message);
  }

  async eventStore(): Promise<{ readonly ready: boolean; readonly detail: string }> {
    const reply = await this.service.client.get<{
      checks: ReadonlyArray<{ name: string; ready: boolean; detail: string }>;
    }>('/readyz');
    const check = reply.body.checks.find(({ name }) => name === 'event-store');
    assert.ok(check);
    return check;
  }

  async notReady(because: RegExp): Promise<void> {
    await eventually(async () => because.test((await this.eventStore()).detail), String(because));
    assert.equal((await this.eventStore()).ready, false);
  }

  async readyAgain(): Promise<void> {
    await eventually(async () => (await this.eventStore()).ready);
  }
}

describe('the causes of an outage of EventStoreDB, as an operator sees them', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let logged: LoggedService;
  let options: () => ServiceOptions;
  let project: string;

  async function start(url: string): Promise<void> {
    folder = temporaryFolder();
    options = () => ({ dataDir: folder.path, environment: { EVENT_STORE_URL: url, LOG_LEVEL: 'info' } });
    logged = new LoggedService(await composeService(options()));
    project = String((await logged.service.client.get('/v1/me')).body.projectId);
    // The service gathers its lines before it writes them, so those of its start may come after its first answer.
    await eventually(() => logged.service.log.includes('"introspect_key"'), 'the line of the first request');
    logged.begin();
  }

  afterEach(async () => {
    await logged.service.stop();
    folder.remove();
  });

  const change = () => logged.service.client.post(`/v1/projects/${project}/flows`, { name: 'Hours', flowSchema: {} });

  describe('a cluster', () => {
    let cluster: EventStoreDbClusterDouble;

    beforeEach(async () => {
      cluster = await EventStoreDbClusterDouble.start();
      await start(cluster.url);
    });
    afterEach(() => cluster.end());

    it('that has lost its leader has one line, and one when it has a leader again', async () => {
      const elect = cluster.depose();
      await logged.notReady(/the cluster has no leader \(alive nodes: 3 of 3\)/);
      await sleep(3_000);
      elect();
      await logged.readyAgain();
      expectStatus(await change(), 201);
      await logged.wrote('EventStoreDB can be used again');
      assert.equal(logged.outageLines().length, 2, JSON.stringify(logged.outageLines()));
    });

    it('that has no leader when the service starts has one line', async () => {
      await logged.service.stop();
      const elect = cluster.depose();
      // It waits for the store before it is composed.
      const waiting = new ServiceProcess(options());
      logged.replace(waiting);
      await logged.wrote('EventStoreDB cannot be used; it is probed until it can');
      await sleep(3_000);
      assert.equal(logged.outageLines().length, 1, JSON.stringify(logged.outageLines()));
      assert.match(String(logged.outageLines()[0]?.cause), /the cluster has no leader/);
      elect();
      await waiting.listening();
    });
  });

  describe('a server with users', () => {
    let certificates: TemporaryFolder;
    let double: EventStoreDbDouble;

    beforeEach(async () => {
      certificates = temporaryFolder();
      double = await EventStoreDbDouble.start({ certificate: makeCertificate(certificates.path) });
      double.access.anonymous = 'none';
      double.access.setUser('svc', 'first');
      await start(double.url.replace('://', '://svc:first@'));
    });
    afterEach(async () => {
      await double.kill();
      certificates.remove();
    });

    for (const [seconds, maxTries, mark] of [
      [5, 12, ''],
      [60, 30, ` ${long}`],
    ] as const)
      it(`whose password is changed while the service is idle, for ${seconds} s: one line, few tries, and back by itself${mark}`, async () => {
        double.access.setUser('svc', 'second');
        await logged.notReady(/the user or password in EVENT_STORE_URL is wrong/);
        await sleep(seconds * 1_000);
        assert.ok(double.access.refusedLogins <= maxTries, `${double.access.refusedLogins} refused logins`);
        assert.equal(logged.outageLines().length, 1, JSON.stringify(logged.outageLines()));
        double.access.setUser('svc', 'first');
        await logged.readyAgain();
        await eventually(async () => (await change()).status === 201);
        await logged.wrote('EventStoreDB can be used again');
      });

    it('whose user loses the right to write: not ready, and each change names the cause', async () => {
      double.access.setUser('svc', 'first', 'read');
      for (let changes = 0; changes < 5; changes += 1) {
        const { detail } = (await change()).body;
        assert.match(String(detail), missingRight);
      }
      await logged.notReady(missingRight);
      await logged.wrote('EventStoreDB refuses an append');
      const lines = logged.outageLines();
      assert.equal(lines.length, 1, JSON.stringify(lines));
      assert.match(String(lines[0]?.stream), /^switchyard\.flow-/);
      assert.match(String(lines[0]?.cause), missingRight);
      double.access.setUser('svc', 'first');
      await logged.readyAgain();
      expectStatus(await change(), 201);
      await logged.wrote('EventStoreDB takes appends again');
    });

    it('whose user has no right to write when the service starts: not ready before any change', async () => {
      await logged.service.stop();
      double.access.setUser('svc', 'first', 'read');
      logged.replace(await composeService(options(), 'listening'));
      await logged.notReady(missingRight);
      double.access.setUser('svc', 'first');
      await logged.readyAgain();
    });
  });
});
