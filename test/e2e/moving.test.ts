import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { identityByFirst } from '#event-store/log-identity.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { openSqliteCheckpointStore } from '#process-engine/checkpoints/sqlite/sqlite-checkpoint-store.ts';
import { processTable } from '#processes/table.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { withoutPosition } from '#test/support/fakes/without-position.ts';
import { field, payload } from '#test/support/inputs/template-payload.ts';
import { startEventsTool, type ToolEnded, toolEnded } from '#test/support/service/events-tool.ts';
import {
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
  until,
} from '#test/support/service/service-process.ts';
import { type LoggedEvent, readDocuments, readLog } from './support/stores.ts';

describe('npm run events', function () {
  this.timeout(180_000);
  let source: TemporaryFolder;
  let target: TemporaryFolder;
  let service: ServiceProcess;

  beforeEach(async () => {
    source = temporaryFolder();
    target = temporaryFolder();
    service = await startService({ dataDir: source.path });
    await fill(service);
  });

  afterEach(async () => {
    await service.kill();
    source.remove();
    target.remove();
  });

  const events = (folder: TemporaryFolder, ...words: ReadonlyArray<string>) =>
    toolEnded(startEventsTool(words, { DATA_DIR: folder.path }));

  async function succeeds(folder: TemporaryFolder, ...words: ReadonlyArray<string>): Promise<ToolEnded> {
    const told = await events(folder, ...words);
    assert.equal(told.code, 0, told.stderr);
    return told;
  }

  it('moves the log of a running service to EventStoreDB and back, where a service shows the same', async () => {
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
    const moved = await startService({ dataDir: target.path });
    assert.ok(await until(() => processesHaveSeen(there, target), 30_000));
    await moved.stop();
    // Nothing more than what was moved: processes have done nothing again.
    assert.deepEqual(contents(await readLog(target.path)), contents(original));
    assert.deepEqual(await documents(target), await documents(source));
  });

  it('lets the same service go on on the other engine, whatever its read store held', async () => {
    const double = await EventStoreDbDouble.start();
    try {
      const file = join(target.path, 'log.ndjson');
      await service.stop();
      const original = await documents(source);
      await succeeds(source, 'export', file);
      await succeeds(source, 'import', file, '--store', double.url);
      const there = await readDouble(double);
      assert.equal(await processesHaveSeen(there, source), false, 'what was seen was seen of the other log');
      const environment = { EVENT_STORE_URL: double.url };
      service = await startService({ dataDir: source.path, environment });
      assert.deepEqual(await documents(source), original);
      assert.ok(await until(() => processesHaveSeen(there, source), 30_000));
      assert.deepEqual(await readDouble(double), there, 'nothing was done again');
      const { status } = await service.client.post('/v1/projects', { name: 'Afterwards' });
      assert.equal(status, 201);
      await service.stop();
    } finally {
      await double.kill();
    }
  });

  it('pipes from one store into another', async () => {
    const exported = await succeeds(source, 'export', '-');
    const told = await toolEnded(startEventsTool(['import', '-'], { DATA_DIR: target.path }), exported.stdout);
    assert.equal(told.code, 0, told.stderr);
    await service.stop();
    assert.equal((await readLog(target.path)).length, (await readLog(source.path)).length);
  });

  it('refuses a store that a service runs on', async () => {
    const file = join(target.path, 'log.ndjson');
    await succeeds(source, 'export', file);
    const running = await events(source, 'import', file);
    assert.equal(running.code, 1);
    assert.match(running.stderr, /^events: \S+ is in use by process \d+, running since \S+; stop it/);
    const url = `sqlite:${join(source.path, 'events.db')}`;
    const named = await toolEnded(startEventsTool(['import', file, '--store', url], { DATA_DIR: target.path }));
    assert.match(named.stderr, /is in use by process \d+/);
    const elsewhere = temporaryFolder();
    const shared = `sqlite:${join(elsewhere.path, 'named.db')}`;
    const other = await startService({ dataDir: target.path, environment: { EVENT_STORE_URL: shared } });
    const outside = await toolEnded(startEventsTool(['import', file, '--store', shared], { DATA_DIR: source.path }));
    assert.match(outside.stderr, new RegExp(`named\\.db is in use by process ${other.pid}`));
    await other.kill();
    elsewhere.remove();
  });

  it('says what is wrong in one line, and ends with 1', async () => {
    const file = join(target.path, 'log.ndjson');
    await succeeds(source, 'export', file);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, `${lines.slice(0, -1).join('\n')}\n`);
    const wrong: ReadonlyArray<readonly [RegExp, ...string[]]> = [
      [/is cut off after line \d+/, 'import', file],
      [/no such file/, 'import', join(target.path, 'nothing')],
      [/log\.ndjson is there already/, 'export', file, '--store', `sqlite:${join(source.path, 'events.db')}`],
      [/events\.db is not there/, 'export', join(target.path, 'other')],
      [/^events: --store must begin with [^=]*Example: --store esdb:/, 'verify', '--store', 'mysql://secret@host'],
    ];
    for (const [message, ...words] of wrong) {
      const told = await events(target, ...words);
      assert.equal(told.code, 1);
      assert.match(told.stderr, message);
      assert.match(told.stderr, /^events: [^\n]+\n$/);
      assert.doesNotMatch(told.stderr, /secret/);
    }
    assert.equal(existsSync(join(target.path, 'events.db')), false, 'nothing was begun');
    for (const words of [[], ['export'], ['import', file, '--resume'], ['export', '-', '--resume'], ['dance']]) {
      const told = await events(target, ...words);
      assert.equal(told.code, 1);
      assert.match(told.stderr, /^Usage: /);
    }
    assert.match((await succeeds(target, '--help')).stdout, /^Usage: /);
  });

  it('stops at SIGINT, says how to go on, and does', async () => {
    const double = await EventStoreDbDouble.start();
    try {
      const file = join(target.path, 'log.ndjson');
      await succeeds(source, 'export', file);
      const child = startEventsTool(['import', '-', '--store', double.url], { DATA_DIR: target.path });
      const told = toolEnded(child, null);
      child.stdin?.write(readFileSync(file, 'utf8').split('\n').slice(0, 3).join('\n'));
      assert.ok(await until(async () => double.calls > 0, 30_000));
      child.kill('SIGINT');
      const { code, stderr } = await told;
      assert.deepEqual([code, stderr], [130, 'events: stopped. Go on with the same command.\n']);
      await succeeds(source, 'import', file, '--store', double.url);
      await succeeds(source, 'verify', '--store', double.url);
    } finally {
      await double.kill();
    }
  });
});

/**
 * A project with flows, a profile and numbers; one flow is deleted, and its number detached. An instance of a template,
 * provisioned, and two partner customers, of whom one was erased.
 */
async function fill({ client }: ServiceProcess): Promise<void> {
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
  assert.ok(await until(isActive, 30_000), 'the instance is not provisioned');
  const customers = '/v1/partner/customers';
  for (const [name, isErased] of Object.entries({ Weber: false, Quixote: true })) {
    const made = await client.post(customers, { name, clientEmail: 'office@example.com' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const erased = isErased ? await client.remove(`${customers}/${made.body.organizationId}/personal-data`) : null;
    assert.equal(erased?.status ?? 200, 200);
  }
}

const contents = (log: ReadonlyArray<LoggedEvent>) => log.map((event) => ({ ...event, position: 0 }));

/** What was stored on EventStoreDB, as it is stored. */
async function readDouble({ url }: EventStoreDbDouble): Promise<ReadonlyArray<RawEvent>> {
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const store = openEventStoreDbEventStore({ url, log: quiet });
  try {
    return await store.readRawLog(0, 10_000);
  } finally {
    await store.close();
  }
}

const everyProcess = processTable({ erase: () => Promise.reject(new Error('nothing is run')) });

/** Whether every process has looked at all that concerns it in a log. */
async function processesHaveSeen(log: ReadonlyArray<RawEvent>, { path }: TemporaryFolder): Promise<boolean> {
  const [first] = log;
  assert.ok(first !== undefined);
  const checkpoints = openSqliteCheckpointStore(join(path, 'processes.db'));
  try {
    for (const { name, types } of everyProcess) {
      const last = log.findLast(({ type }) => types.includes(type))?.position ?? Number.NaN;
      const { position } = await checkpoints.peek(name, identityByFirst(first));
      if (!(position >= last)) return false;
    }
    return true;
  } finally {
    await checkpoints.close();
  }
}

/** Every read model's documents in the order of lists, but for positions. */
async function documents({ path }: TemporaryFolder) {
  const all = await readDocuments(path);
  return Object.fromEntries(
    Object.entries(all).map(([name, stored]) => [
      name,
      stored.map(({ id, value }) => ({ id, value: withoutPosition(value) })),
    ]),
  );
}
