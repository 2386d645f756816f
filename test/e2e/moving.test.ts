import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultStreamPrefix } from '#app/store-config.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { identityByFirst } from '#event-store/log-identity.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { processTable } from '#processes/table.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { withoutPositions } from '#test/support/fakes/without-positions.ts';
import { field, payload } from '#test/support/inputs/template-payload.ts';
import { long } from '#test/support/run/long.ts';
import { startEventsTool, type ToolExit, toolExit } from '#test/support/service/events-tool.ts';
import {
  adminKey,
  poll,
  type ServiceOptions,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { type LoggedEvent, readDocuments, readLog } from './support/stores.ts';

describe('npm run events', function () {
  this.timeout(180_000);
  /** The stores of a service that has handled commands of every kind. */
  let filled: TemporaryFolder;
  let source: TemporaryFolder;
  let target: TemporaryFolder;
  const started: ServiceProcess[] = [];

  const start = async (options: ServiceOptions) => {
    const service = await startService(options);
    started.push(service);
    return service;
  };

  before(async () => {
    filled = temporaryFolder();
    const service = await start({ dataDir: filled.path });
    await fill(service);
    await service.stop();
  });

  beforeEach(() => {
    source = temporaryFolder();
    target = temporaryFolder();
    cpSync(filled.path, source.path, { recursive: true });
  });

  afterEach(async () => {
    for (const service of started.splice(0)) await service.kill();
    source.remove();
    target.remove();
  });

  after(() => filled.remove());

  const events = (folder: TemporaryFolder, ...args: ReadonlyArray<string>) =>
    toolExit(startEventsTool(args, { DATA_DIR: folder.path }));

  async function succeeds(folder: TemporaryFolder, ...args: ReadonlyArray<string>): Promise<ToolExit> {
    const ended = await events(folder, ...args);
    assert.equal(ended.code, 0, ended.stderr);
    return ended;
  }

  it(`moves the log of a running service to EventStoreDB and back, with the same documents ${long}`, async () => {
    const service = await start({ dataDir: source.path });
    const double = await EventStoreDbDouble.start();
    try {
      const [first, second] = [join(target.path, 'first.ndjson'), join(target.path, 'second.ndjson')];
      await succeeds(source, 'export', first);
      await succeeds(source, 'import', first, '--store', double.url);
      await succeeds(source, 'export', second, '--store', double.url);
      const verified = await succeeds(source, 'verify', '--store', double.url);
      const imported = await succeeds(target, 'import', second);
      assert.match(imported.stderr, /^events: imported \d+ events in \d+ streams, SHA-256 [0-9a-f]{64}\n$/);
      assert.equal(verified.stdout.slice('verified '.length), imported.stderr.slice('events: imported '.length));
      assert.equal(statSync(first).mode & 0o777, 0o600);
    } finally {
      await double.kill();
    }
    await service.stop();
    const original = await readLog(source.path);
    const there = await readLog(target.path);
    const moved = await start({ dataDir: target.path });
    assert.ok(await poll(() => processesHaveSeen(there, target), 30_000));
    await moved.stop();
    // The log holds only the imported events, because processes have repeated nothing.
    assert.deepEqual(contents(await readLog(target.path)), contents(original));
    assert.deepEqual(await documents(target), await documents(source));
  });

  it(`lets a service continue on the other engine, whatever its read store holds ${long}`, async () => {
    const double = await EventStoreDbDouble.start();
    try {
      const file = join(target.path, 'log.ndjson');
      const original = await documents(source);
      await succeeds(source, 'export', file);
      await succeeds(source, 'import', file, '--store', double.url);
      const there = await readDouble(double);
      assert.equal(await processesHaveSeen(there, source), false, 'the checkpoints belong to the other log');
      const environment = { EVENT_STORE_URL: double.url };
      const service = await start({ dataDir: source.path, environment });
      assert.deepEqual(await documents(source), original);
      assert.ok(await poll(() => processesHaveSeen(there, source), 30_000));
      assert.deepEqual(await readDouble(double), there, 'something was repeated');
      const { status } = await service.client.post('/v1/projects', { name: 'Afterwards' });
      assert.equal(status, 201);
      await service.stop();
    } finally {
      await double.kill();
    }
  });

  it('pipes the log from one store into another', async () => {
    const exported = await succeeds(source, 'export', '-');
    const ended = await toolExit(startEventsTool(['import', '-'], { DATA_DIR: target.path }), exported.stdout);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal((await readLog(target.path)).length, (await readLog(source.path)).length);
  });

  it(`refuses a store that a service uses ${long}`, async () => {
    await start({ dataDir: source.path });
    const file = join(target.path, 'log.ndjson');
    await succeeds(source, 'export', file);
    const running = await events(source, 'import', file);
    assert.equal(running.code, 1);
    assert.match(running.stderr, /^events: \S+ is in use by process \d+, running since \S+; stop it/);
    const url = `sqlite:${join(source.path, 'events.db')}`;
    const named = await toolExit(startEventsTool(['import', file, '--store', url], { DATA_DIR: target.path }));
    assert.match(named.stderr, /is in use by process \d+/);
    const elsewhere = temporaryFolder();
    const shared = `sqlite:${join(elsewhere.path, 'named.db')}`;
    const other = await start({ dataDir: target.path, environment: { EVENT_STORE_URL: shared } });
    const outside = await toolExit(startEventsTool(['import', file, '--store', shared], { DATA_DIR: source.path }));
    assert.match(outside.stderr, new RegExp(`named\\.db is in use by process ${other.pid}`));
    await other.kill();
    elsewhere.remove();
  });

  it(`reports an error in one line, and exits with 1 ${long}`, async () => {
    const file = join(target.path, 'log.ndjson');
    await succeeds(source, 'export', file);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, `${lines.slice(0, -1).join('\n')}\n`);
    const wrong: ReadonlyArray<readonly [RegExp, ...string[]]> = [
      [/is cut off after line \d+/, 'import', file],
      [/no such file/, 'import', join(target.path, 'nothing')],
      [/log\.ndjson is there already/, 'export', file, '--store', `sqlite:${join(source.path, 'events.db')}`],
      [/does not understand "--resume"; it takes --store\./, 'import', file, '--resume'],
      [/does not understand "dance"; it takes export, import, [a-z, -]+, digest-key\./, 'dance'],
      [/does not understand "more"; it takes nothing more\./, 'verify', 'more'],
      [/^events: export needs a <file>\./, 'export'],
      [/^events: --resume continues a file/, 'export', '-', '--resume'],
      [/Unknown option '--loud'/, 'verify', '--loud'],
      [/events\.db is not there/, 'export', join(target.path, 'other')],
      [/^events: --store must begin with [^=]*Example: --store esdb:/, 'verify', '--store', 'mysql://secret@host'],
    ];
    for (const [message, ...args] of wrong) {
      const ended = await events(target, ...args);
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, message);
      assert.match(ended.stderr, /^events: [^\n]+\n$/);
      assert.doesNotMatch(ended.stderr, /secret/);
    }
    assert.equal(existsSync(join(target.path, 'events.db')), false, 'the import has created a file');
    const without = await events(target);
    assert.deepEqual([without.code, without.stderr.startsWith('Usage: ')], [1, true]);
    assert.match((await succeeds(target, '--help')).stdout, /^Usage: /);
  });

  it(`stops on SIGINT with instructions to continue, and continues with the same command ${long}`, async () => {
    const double = await EventStoreDbDouble.start();
    try {
      const file = join(target.path, 'log.ndjson');
      await succeeds(source, 'export', file);
      const child = startEventsTool(['import', '-', '--store', double.url], { DATA_DIR: target.path });
      const ended = toolExit(child, null);
      child.stdin?.write(readFileSync(file, 'utf8').split('\n').slice(0, 3).join('\n'));
      assert.ok(await poll(async () => double.calls > 0, 30_000));
      child.kill('SIGINT');
      const { code, stderr } = await ended;
      assert.deepEqual([code, stderr], [130, 'events: stopped. To continue, run the same command again.\n']);
      await succeeds(source, 'import', file, '--store', double.url);
      await succeeds(source, 'verify', '--store', double.url);
    } finally {
      await double.kill();
    }
  });
});

/**
 * Creates a project with flows, a profile and phone numbers, of which one is detached because its flow is deleted, a
 * provisioned instance of a template, two partner customers, of whom one is erased, and a deleted file.
 */
async function fill({ client, url }: ServiceProcess): Promise<void> {
  const made = async (path: string, body: object): Promise<string> => {
    const { status, body: answer } = await client.post(path, body);
    assert.equal(status, 201, JSON.stringify(answer));
    return String(answer.id);
  };
  const project = `/v1/projects/${await made('/v1/projects', { name: 'Front desk' })}`;
  const kept = await made(`${project}/flows`, { name: 'Opening hours', flowSchema: { say: '9 – 5' } });
  const deleted = await made(`${project}/flows`, { name: 'Closed', flowSchema: {} });
  await made(`${project}/phone-numbers`, { name: 'One', number: '+442071838750', flowId: kept });
  await made(`${project}/phone-numbers`, { name: 'Two', number: '+442071838751', flowId: deleted });
  await made(`${project}/agent-profiles`, {
    name: 'Receptionist',
    flowIds: [kept],
    isDefault: true,
    supportedInputLanguages: ['en'],
    reasoningMode: 'balanced',
    outputVoiceId: 'narrator',
  });
  await client.remove(`/v1/flows/${deleted}`);
  const template = await made('/v1/templates', { name: 'Practice' });
  const contents = { payload: payload(), fieldsSchema: [field()] };
  const templateVersionId = await made(`/v1/templates/${template}/versions`, contents);
  await client.post(`/v1/template-versions/${templateVersionId}/publish`);
  const projectId = project.split('/').at(-1) ?? '';
  const body = { templateVersionId, projectId, name: 'Weber', fieldValues: { name: 'Weber' } };
  const instance = await made('/v1/instances', body);
  const isActive = async () => (await client.get(`/v1/instances/${instance}`)).body.status === 'active';
  assert.ok(await poll(isActive, 30_000), 'the instance is not provisioned');
  const customers = '/v1/partner/customers';
  for (const [name, isErased] of Object.entries({ Weber: false, Quixote: true })) {
    const made = await client.post(customers, { name, clientEmail: 'office@example.com' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const erased = isErased ? await client.remove(`${customers}/${made.body.organizationId}/personal-data`) : null;
    assert.equal(erased?.status ?? 200, 200);
  }
  const form = new FormData();
  form.set('purpose', 'user_data');
  form.set('file', new Blob(['notes']), 'notes.txt');
  const headers = { authorization: `Bearer ${adminKey}` };
  const uploaded = await fetch(`${url}/v1/files`, { method: 'POST', headers, body: form });
  assert.equal(uploaded.status, 200, uploaded.statusText);
  const { id } = (await uploaded.json()) as { id: string };
  assert.equal((await client.remove(`/v1/files/${id}`)).status, 200);
}

const contents = (log: ReadonlyArray<LoggedEvent>) => log.map((event) => ({ ...event, position: 0 }));

/** Reads the raw events of the EventStoreDB double. */
async function readDouble({ url }: EventStoreDbDouble): Promise<ReadonlyArray<RawEvent>> {
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const store = openEventStoreDbEventStore({ url, streamPrefix: defaultStreamPrefix, log: quiet });
  try {
    // Followers and exports of a log do not see the number of its format.
    return (await store.readRawLog(0, 10_000)).filter(({ stream }) => stream !== 'stored-format');
  } finally {
    await store.close();
  }
}

const notRun = () => Promise.reject(new Error('nothing is run'));
const everyProcess = processTable({ erase: notRun }, { delete: notRun }, { eraseProject: notRun });

/** Whether every process has handled all events of its types in a log. A log without batches has none for some. */
async function processesHaveSeen(log: ReadonlyArray<RawEvent>, { path }: TemporaryFolder): Promise<boolean> {
  const [first] = log;
  assert.ok(first !== undefined);
  const writer = new SqliteWriter({ onFatal: (error) => assert.fail(error) });
  const records = openSqliteRecordStore({ file: join(path, 'records.db'), writer });
  try {
    const record = await new ProcessCheckpoints(records).read();
    if (record?.log !== identityByFirst(first)) return false;
    return everyProcess.every(({ name, types }) => {
      const last = log.findLast(({ type }) => types.includes(type))?.position ?? 0;
      return (record.checkpoints[name]?.position ?? 0) >= last;
    });
  } finally {
    await records.close();
    await writer.close();
  }
}

/** Reads the documents of every read model in the order of lists, without positions. */
async function documents({ path }: TemporaryFolder) {
  const all = await readDocuments(path);
  return Object.fromEntries(Object.entries(all).map(([name, stored]) => [name, withoutPositions(name, stored)]));
}
