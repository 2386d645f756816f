import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defaultStreamPrefix } from '#app/store-config.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { rebuildProjection } from '#test/e2e/support/rebuild-projection.ts';
import type { LogCopy } from '#test/support/eventstoredb/event-log.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { startEventsTool, toolExit } from '#test/support/service/events-tool.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

interface Engine {
  /** Marks the run of the suite on this engine: what reads events is the same on both. */
  readonly mark: string;
  readonly environment: () => Promise<Record<string, string>>;
  /** Removes the events of a stream before a revision for good. */
  readonly truncate: (folder: TemporaryFolder, stream: string, beforeRevision: number) => void;
  /** Puts all removed events back in their places. */
  readonly restore: (folder: TemporaryFolder) => void;
  readonly dispose: () => Promise<void>;
}

let double: EventStoreDbDouble | null = null;
let logBefore: LogCopy | null = null;

function inFile(folder: TemporaryFolder, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(folder.path, 'events.db'));
  try {
    database.exec(`ATTACH '${join(folder.path, 'removed.db')}' AS removed`);
    database.exec('CREATE TABLE IF NOT EXISTS removed.events AS SELECT * FROM main.events WHERE FALSE');
    work(database);
  } finally {
    database.close();
  }
}

const engines: Readonly<Record<string, Engine>> = {
  SQLite: {
    mark: '',
    environment: async () => ({}),
    truncate: (folder, stream, beforeRevision) =>
      inFile(folder, (database) => {
        const which = 'FROM main.events WHERE stream = ? AND revision < ?';
        database.prepare(`INSERT INTO removed.events SELECT * ${which}`).run(stream, beforeRevision);
        database.prepare(`DELETE ${which}`).run(stream, beforeRevision);
      }),
    restore: (folder) =>
      inFile(folder, (database) => database.exec('INSERT INTO main.events SELECT * FROM removed.events')),
    dispose: async () => undefined,
  },
  EventStoreDB: {
    mark: ` ${long}`,
    environment: async () => {
      double = await EventStoreDbDouble.start();
      return { EVENT_STORE_URL: double.url };
    },
    truncate: (_, stream, beforeRevision) => {
      logBefore ??= double?.log.copy() ?? null;
      double?.log.setMetadata(`${defaultStreamPrefix}${stream}`, { $tb: beforeRevision });
      double?.log.scavenge();
    },
    restore: () => {
      assert.ok(double !== null && logBefore !== null);
      const { events, end } = double.log.copy();
      const since = events.filter(
        ({ position, stream }) => position >= (logBefore?.end ?? 0) && !stream.startsWith('$$'),
      );
      double.log.restore({ events: [...logBefore.events, ...since], end, scavengedTo: 0 });
    },
    dispose: async () => double?.stop(),
  },
};

for (const [name, engine] of Object.entries(engines))
  describe(`a log whose streams lack events, on ${name}${engine.mark}`, function () {
    this.timeout(180_000);
    let folder: TemporaryFolder;
    let environment: Record<string, string>;
    let service: ServiceInProcess;
    let first: string;
    let second: string;

    before(async () => {
      folder = temporaryFolder();
      environment = await engine.environment();
      service = await composeService({ dataDir: folder.path, environment });
      const project = String((await service.client.get('/v1/me')).body.projectId);
      const flow = async (name: string) => {
        const made = await service.client.post(`/v1/projects/${project}/flows`, { name, flowSchema: {} });
        const id = String(expectStatus(made, 201).id);
        for (const renamed of [`${name} 2`, `${name} 3`])
          expectStatus(await service.client.patch(`/v1/flows/${id}`, { name: renamed }), 200);
        return id;
      };
      first = await flow('one');
      second = await flow('two');
      await restart(() => {
        engine.truncate(folder, `flow-${first}`, 2);
        engine.truncate(folder, `flow-${second}`, 1);
      });
    });
    after(async () => {
      await service.stop();
      await engine.dispose();
      folder.remove();
    });

    async function restart(meanwhile: () => void = () => undefined): Promise<void> {
      await service.stop();
      meanwhile();
      service = await composeService({ dataDir: folder.path, environment }, 'listening');
    }

    const incomplete = async () => {
      const reply = await service.client.get<{ projections: ReadonlyArray<ProjectionStatus> }>('/v1/projections');
      const found = expectStatus(reply, 200).projections.filter(({ incompleteStreams }) => incompleteStreams.count > 0);
      return Object.fromEntries(found.map(({ name, incompleteStreams }) => [name, incompleteStreams]));
    };
    const expected = () => ({
      count: 2,
      isExact: true,
      first: [
        { stream: `flow-${first}`, expectedRevision: 0, revision: 2 },
        { stream: `flow-${second}`, expectedRevision: 0, revision: 1 },
      ],
    });

    it('is named by events verify, which fails', async () => {
      const { code, stderr } = await toolExit(startEventsTool(['verify'], { DATA_DIR: folder.path, ...environment }));
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`BROKEN: flow-${first} begins at revision 2, .*its first events are missing`));
      assert.match(stderr, new RegExp(`BROKEN: flow-${second} begins at revision 1, .*its first events are missing`));
      assert.match(stderr, /2 BROKEN: the log was changed, lacks events/);
    });

    it('does not change read models that were built before', async () => {
      assert.deepEqual(await incomplete(), {});
      assert.equal(expectStatus(await service.client.get(`/v1/flows/${first}`), 200).name, 'one 3');
    });

    it('is named by a rebuild, in the status, the detail of readiness and the metrics, and the read model follows the log', async () => {
      await rebuildProjection(service.client, 'flows');
      assert.deepEqual(await incomplete(), { flows: expected() });
      expectProblem(await service.client.get(`/v1/flows/${first}`), 503, 'stream-unreadable');
      const ready = await fetch(`${service.url}/readyz`);
      assert.equal(ready.status, 200);
      const alarm = `ALARM: read models were built from streams that lack events: flow-${first}, flow-${second}`;
      assert.ok((await ready.text()).includes(alarm));
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      assert.match(metrics, /switchyard_incomplete_streams\{projection="flows"\} 2/);
      assert.match(metrics, /switchyard_incomplete_streams\{projection="audit"\} 0/);
      const line = 'A read model was built from streams that lack events';
      await eventually(() => service.log.includes(line), 'the log says it');
      const dashboard = await service.client.get<{ projections: ReadonlyArray<ProjectionStatus> }>(
        '/v1/dashboard/projections',
      );
      const shown = expectStatus(dashboard, 200).projections.find(({ name }) => name === 'flows');
      assert.deepEqual(shown?.incompleteStreams, expected());
    });

    it('is named after a restart too, until a rebuild finds the streams whole', async () => {
      await restart();
      assert.deepEqual(await incomplete(), { flows: expected() });
      await restart(() => engine.restore(folder));
      await rebuildProjection(service.client, 'flows');
      assert.deepEqual(await incomplete(), {});
    });
  });
