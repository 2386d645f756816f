import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { defaultStreamPrefix } from '#app/store-config.ts';
import type { ProcessStatus } from '#application/queries/process-status.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { mustAppend } from '#test/contract/event-store.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { rebuildProjection } from '#test/e2e/support/rebuild-projection.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeOnEngines, type Engines } from '#test/support/service/engines.ts';
import { startEventsTool, toolExit } from '#test/support/service/events-tool.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

type Stoppable = Pick<ProjectionStatus, 'name' | 'state' | 'position' | 'failure'>;
interface AuditEntry {
  readonly type: string;
  readonly summary: string;
  readonly resource: object;
  readonly actor: { readonly keyType: string };
}

const log = pino({ level: 'silent' });
const reason = 'A tool wrote it without an id';

describeOnEngines('broken events that an operator skips', (engines: Engines) => {
  let folder: TemporaryFolder;
  let service: ServiceInProcess;

  before(async () => {
    folder = temporaryFolder();
    service = await composeService({ dataDir: folder.path, environment: engines.environment() });
  });
  after(async () => {
    await service.stop();
    folder.remove();
  });

  function open(): Promise<EventStore> | EventStore {
    const url = engines.environment().EVENT_STORE_URL;
    if (url === undefined) return openSqliteEventStore({ file: join(folder.path, 'events.db') });
    return openEventStoreDbEventStore({ url, streamPrefix: defaultStreamPrefix, log });
  }

  /** Appends an event whose text is not JSON, under one of the service's types, while the service is stopped. */
  async function appendBroken(stream: string): Promise<string> {
    await service.stop();
    const store = await open();
    const id = randomUUID();
    await mustAppend(store, stream, -1, [{ id, type: 'PhoneNumberCreated', data: '{', metadata: '' }]);
    await store.close();
    return id;
  }

  async function start(): Promise<void> {
    service = await composeService({ dataDir: folder.path, environment: engines.environment() }, 'listening');
  }

  const tool = (...args: ReadonlyArray<string>) =>
    toolExit(startEventsTool(args, { DATA_DIR: folder.path, ...engines.environment() }));

  const followers = async (): Promise<ReadonlyArray<Stoppable>> => {
    const projections = await service.client.get<{ projections: ReadonlyArray<ProjectionStatus> }>('/v1/projections');
    const processes = await service.client.get<{ processes: ReadonlyArray<ProcessStatus> }>('/v1/processes');
    return [
      ...expectStatus(projections, 200).projections,
      ...(expectStatus(processes, 200).processes as ReadonlyArray<Stoppable>),
    ];
  };
  const allRun = async () => {
    const all = await followers();
    return all.every(({ state }) => state === 'running');
  };
  const failures = async () => (await followers()).flatMap(({ failure }) => failure ?? []);

  it('are passed by all that has stopped at them, now and in a rebuild, and the audit says why', async () => {
    const stream = 'phoneNumber-cbroken01';
    const id = await appendBroken(stream);
    await start();
    const stopped = ['phone-numbers', 'audit', 'activity', 'detach-phone-numbers'];
    await eventually(async () => {
      const names = (await followers()).filter(({ state }) => state === 'stopped').map(({ name }) => name);
      return stopped.every((name) => names.includes(name));
    }, 'all of them have stopped');
    const [failure] = await failures();
    assert.deepEqual([failure?.eventId, failure?.stream], [id, stream]);
    const position = String(failure?.position);

    const skipped = await tool('skip-event', position, '--reason', reason);
    assert.equal(skipped.code, 0, skipped.stderr);
    assert.equal(skipped.stdout, `skipped event ${id} (PhoneNumberCreated, position ${position} of ${stream})\n`);
    await eventually(allRun, 'everything runs again');
    await eventually(async () => (await fetch(`${service.url}/readyz`)).status === 200, 'it is ready');

    // The answer to the tool does not wait for an audit that has stopped.
    const entries = await eventually(async () => {
      const audit = await service.client.get<{ entries: ReadonlyArray<AuditEntry> }>('/v1/audit?type=EventSkipped');
      const found = expectStatus(audit, 200).entries;
      return found.length > 0 && found;
    }, 'the audit shows it');
    const [entry, ...others] = entries;
    assert.deepEqual([entry?.resource, others], [{ kind: 'event', id }, []]);
    assert.ok(entry?.summary.includes(reason), entry?.summary);

    for (const name of ['phone-numbers', 'audit']) await rebuildProjection(service.client, name);
    assert.ok(await allRun());
    await service.stop();
    await start();
    await eventually(allRun, 'everything runs after a restart');
  });

  it('are skipped with no service running, too', async () => {
    const id = await appendBroken('phoneNumber-cbroken02');
    const store = await open();
    const position = await store.lastPosition();
    await store.close();
    const skipped = await tool('skip-event', String(position), '--reason', reason);
    assert.equal(skipped.code, 0, skipped.stderr);
    assert.ok(skipped.stdout.includes(id), skipped.stdout);
    await start();
    await eventually(allRun, 'everything runs');
  });

  it('are the only ones: another position, and a request without a reason, are refused with one line', async () => {
    const path = '/v1/skipped-events';
    const { logEnd } = expectStatus(await service.client.get<{ logEnd: number }>('/v1/projections'), 200);
    for (const position of [logEnd, logEnd + 1_000_000])
      expectProblem(await service.client.post(path, { position, reason }), 409, 'event-not-stopped');
    expectProblem(await service.client.post(path, { position: logEnd }), 422, 'invalid-input', ['/reason']);
    const refused = async (line: RegExp, ...args: ReadonlyArray<string>) => {
      const { code, stderr } = await tool('skip-event', ...args);
      assert.equal(code, 1);
      assert.match(stderr, line);
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
    };
    await refused(/^events: GET .* show no failure at position \d+: /, String(logEnd), '--reason', reason);
    await refused(/^events: skip-event needs --reason <text>/, String(logEnd));
    await refused(/^events: skip-event needs a <position>/, '--reason', reason);
    await refused(/^events: "first" is not a position/, 'first', '--reason', reason);
  });
});
