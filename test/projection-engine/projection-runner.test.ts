import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { type AnyProjection, ignored, projection } from '#projection-engine/projection.ts';
import { type ProjectionRunner, startProjectionRunner } from '#projection-engine/projection-runner.ts';
import type { ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type GivenEvent, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { shownDocuments } from '#test/support/harness/shown-documents.ts';
import { eventually } from '#test/support/run/eventually.ts';

interface Flow {
  readonly flowId: string;
  readonly name: string;
  readonly seen: number;
}

interface Version {
  readonly flowId: string;
  readonly number: number;
}

interface FlowEvents {
  readonly FlowCreated: { readonly flowId: string; readonly name: string };
  readonly FlowRenamed: { readonly flowId: string; readonly name: string };
  readonly FlowDeleted: { readonly flowId: string };
  readonly VersionCreated: { readonly flowId: string; readonly number: number };
}

/** `seen` counts events, so that an event applied twice or left out is visible. */
const flows = (version = 1): AnyProjection =>
  projection<Flow, FlowEvents>({
    name: 'flows',
    version,
    keys: (event) => [event.data.flowId],
    on: {
      FlowCreated: (_, { data }) => ({ ...data, seen: version * 100 }),
      FlowRenamed: (flow, { data }) => {
        if (data.name === 'poison') throw new Error('It cannot be called poison.');
        return flow && { ...flow, name: data.name, seen: flow.seen + 1 };
      },
      FlowDeleted: () => null,
      VersionCreated: ignored,
    },
    indexes: [['name']],
  });

const versions: AnyProjection = projection<Version, FlowEvents>({
  name: 'versions',
  version: 1,
  keys: (event) => ('number' in event.data ? [`${event.data.flowId}-${event.data.number}`] : []),
  on: {
    FlowCreated: ignored,
    FlowRenamed: ignored,
    FlowDeleted: { removeWhere: ({ data }) => ({ flowId: data.flowId }) },
    VersionCreated: (_, { data }) => data,
  },
  indexes: [['flowId']],
});

/** For some names, documents that cannot be written as JSON. */
const unwritableNames: AnyProjection = projection<{ readonly name: unknown }, FlowEvents>({
  name: 'unwritable',
  version: 1,
  keys: (event) => [event.data.flowId],
  on: {
    FlowCreated: ignored,
    FlowDeleted: ignored,
    VersionCreated: ignored,
    FlowRenamed: (_, { data: { name } }) => {
      const cycle: { name?: unknown } = {};
      cycle.name = cycle;
      if (name === 'function') return (() => name) as unknown as { readonly name: unknown };
      return { name: name === 'bigint' ? 1n : name === 'cycle' ? cycle : name };
    },
  },
  indexes: [],
});

const created = (flowId: string, name = flowId) => flowEvent('FlowCreated', { flowId, name });
const renamed = (flowId: string, name: string) => flowEvent('FlowRenamed', { flowId, name });
const deleted = (flowId: string) => flowEvent('FlowDeleted', { flowId });
const version = (flowId: string, number: number) => flowEvent('VersionCreated', { flowId, number });

describe('ProjectionRunner', () => {
  let folder: string;
  let log: InMemoryEventStore;
  let writer: ReadStoreWriter;
  let reader: ReadStore;
  let runner: ProjectionRunner | null;
  let errors: { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'projection-runner-'));
    log = new InMemoryEventStore();
    errors = [];
    runner = null;
    open();
  });
  afterEach(async () => {
    await closeAll();
    await rm(folder, { recursive: true });
  });

  const file = () => join(folder, 'read-store.sqlite');
  const open = () => {
    writer = openSqliteReadStoreWriter(file(), assert.fail);
    reader = openSqliteReadStore(file());
  };
  const closeAll = async () => {
    await runner?.close().catch(() => undefined);
    await reader.close();
    await writer.close();
  };
  const start = async (projections: ReadonlyArray<AnyProjection> = [flows(), versions], store = writer) => {
    const quiet = () => undefined;
    const error = (fields: Readonly<Record<string, unknown>>, message: string) => errors.push({ fields, message });
    runner = await startProjectionRunner({
      projections,
      events: log,
      tail: log.tail,
      store,
      log: { info: quiet, warn: quiet, error },
    });
    return runner;
  };
  const restart = async (projections?: ReadonlyArray<AnyProjection>) => {
    await closeAll();
    open();
    return start(projections);
  };
  const all = async (collection: string) =>
    (await reader.list(collection, {}, { limit: 1000, maxBytes: 1e7 })).documents.map(({ value }) => value);
  const caughtUp = () =>
    eventually(async () => {
      const end = await log.lastPosition();
      return (
        running().ready() &&
        running()
          .positions()
          .every(({ live, position }) => !live || position >= end)
      );
    }, 'everything is caught up');
  const running = () => {
    assert.ok(runner);
    return runner;
  };
  const statuses = () => running().status();
  const statusOf = (name: string) => {
    const status = running()
      .status()
      .find((one) => one.name === name);
    assert.ok(status);
    return status;
  };
  /** The documents that a second runner makes from the same log in an empty store. */
  const fromZero = async (projections: ReadonlyArray<AnyProjection>) => {
    const other = join(folder, `zero-${Math.random()}.sqlite`);
    const zeroWriter = openSqliteReadStoreWriter(other, assert.fail);
    const zeroReader = openSqliteReadStore(other);
    const quiet = () => undefined;
    const zero = await startProjectionRunner({
      projections,
      events: log,
      tail: log.tail,
      store: zeroWriter,
      log: { info: quiet, warn: quiet, error: quiet },
    });
    await eventually(() => zero.ready(), 'the runner from zero is ready');
    const documents = await shownDocuments(
      zeroReader,
      projections.map(({ name }) => name),
    );
    await zero.close();
    await zeroReader.close();
    await zeroWriter.close();
    return documents;
  };
  const stored = (names: ReadonlyArray<string>) => shownDocuments(reader, names);

  it('is ready immediately on an empty log, and follows it live', async () => {
    await start();
    await caughtUp();
    assert.deepEqual(statusOf('flows').state, 'running');
    log.append(created('f1'), renamed('f1', 'new'));
    await caughtUp();
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'new', seen: 101 }]);
  });

  it('is ready only after it has filled its read models from the log', async () => {
    log.append(created('f1'), version('f1', 1), version('f1', 2));
    await start();
    assert.equal(statusOf('flows').ready, false);
    assert.deepEqual(
      running()
        .positions()
        .map(({ live }) => live),
      [false, false],
    );
    await caughtUp();
    assert.equal(statusOf('flows').ready, true);
    assert.equal((await all('versions')).length, 2);
  });

  it('orders a document by the event that created it', async () => {
    const [first, , , again] = log.append(created('f1'), created('f2'), deleted('f1'), created('f1'));
    await start();
    await caughtUp();
    assert.equal((await reader.get('flows', 'f1'))?.order, again?.position);
    log.append(renamed('f1', 'later'));
    await caughtUp();
    assert.equal((await reader.get('flows', 'f1'))?.order, again?.position);
    assert.notEqual(first?.position, again?.position);
  });

  it('continues from its checkpoint after a restart, and applies no event twice', async () => {
    log.append(created('f1'), renamed('f1', 'a'));
    await start();
    await caughtUp();
    log.append(renamed('f1', 'b'));
    await restart();
    await caughtUp();
    log.append(renamed('f1', 'c'));
    await caughtUp();
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'c', seen: 103 }]);
  });

  it('removes by index what an earlier event of the same batch put, and keeps what a later one puts', async () => {
    log.append(
      created('f1'),
      version('f1', 1),
      version('f2', 1),
      deleted('f1'),
      version('f1', 2),
      version('f2', 2),
      deleted('f2'),
      deleted('f1'),
      version('f1', 3),
    );
    await start();
    await caughtUp();
    assert.deepEqual(await all('versions'), [{ flowId: 'f1', number: 3 }]);
    log.append(version('f2', 1), version('f1', 4), deleted('f1'), version('f1', 1));
    await caughtUp();
    assert.deepEqual(await all('versions'), [
      { flowId: 'f2', number: 1 },
      { flowId: 'f1', number: 1 },
    ]);
  });

  it('stops only the projection that fails on an event, and keeps the documents of the events before it', async () => {
    log.append(created('f1'), renamed('f1', 'good'));
    const [poison] = log.append(renamed('f1', 'poison'), renamed('f1', 'after'));
    log.append(version('f1', 1));
    await start();
    await eventually(() => statusOf('flows').state === 'stopped', 'flows has stopped');
    await eventually(async () => (await all('versions')).length === 1, 'versions is caught up');
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'good', seen: 101 }]);
    assert.deepEqual(statusOf('flows').failure, {
      eventId: poison?.id,
      eventType: 'FlowRenamed',
      position: poison?.position,
      // The events of this test have few members.
      message: `The event is broken: it has no data.id (It cannot be called poison.). Leave it out with: npm run events -- skip-event ${poison?.position} --reason <text>`,
      stream: 'flow-f1',
    });
    assert.equal(statusOf('flows').position, 6);
    assert.deepEqual(
      errors.map(({ fields }) => [fields.projection, fields.position]),
      [['flows', poison?.position]],
    );
    assert.deepEqual((await reader.status()).find(({ name }) => name === 'flows')?.state, 'stopped');
    assert.equal(running().positions()[0]?.live, false);
  });

  it('stops at the same event after a restart', async () => {
    log.append(created('f1'));
    await start();
    await caughtUp();
    log.append(renamed('f1', 'poison'), renamed('f1', 'after'));
    await eventually(() => statusOf('flows').state === 'stopped', 'flows has stopped');
    await restart();
    await eventually(() => statusOf('flows').state === 'stopped', 'flows has stopped');
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'f1', seen: 100 }]);
  });

  it('leaves out a skipped event immediately, after restarts and in rebuilds', async () => {
    const [, poison] = log.append(created('f1'), renamed('f1', 'poison'), renamed('f1', 'after'));
    await start();
    await eventually(() => statusOf('flows').state === 'stopped', 'flows has stopped');
    log.append(operator('ProjectionEventSkipped', { projection: 'flows', eventId: poison?.id ?? '' }));
    await eventually(() => statusOf('flows').state === 'running', 'flows runs again');
    await caughtUp();
    const expected = [{ flowId: 'f1', name: 'after', seen: 101 }];
    assert.deepEqual(await all('flows'), expected);
    log.append(operator('ProjectionRebuildRequested', { projection: 'flows' }));
    await restart();
    await caughtUp();
    await eventually(() => statusOf('flows').state === 'running', 'the projection is rebuilt');
    assert.deepEqual(await all('flows'), expected);
    assert.deepEqual((await fromZero([flows(), versions]))[0], (await stored(['flows']))[0]);
  });

  it('leaves out a skipped event although the stream of the requests lacks events', async () => {
    const [, poison] = log.append(created('f1'), renamed('f1', 'poison'), renamed('f1', 'after'));
    const requested = operator('ProjectionEventSkipped', { projection: 'flows', eventId: poison?.id ?? '' });
    log.append(requested);
    log.read = async (stream) => {
      throw new UnreadableStreamError({ stream, expectedRevision: 0, foundRevision: null }, 'it was deleted');
    };
    await start();
    await caughtUp();
    assert.equal(statusOf('flows').state, 'running');
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'after', seen: 101 }]);
  });

  it('lets every projection pass an event that is skipped everywhere, in rebuilds and in later releases too', async () => {
    const fragile = { ...flows(), name: 'fragile' };
    const [, poison, other] = log.append(created('f1'), renamed('f1', 'poison'), renamed('f1', 'poison'));
    await start([flows(), fragile]);
    const bothStopAt = (id: string | undefined) =>
      eventually(() => statuses().every(({ failure }) => failure?.eventId === id), 'both have stopped');
    await bothStopAt(poison?.id);
    log.append(skippedEverywhere(poison?.id));
    // Only the event that the operator has named is passed.
    await bothStopAt(other?.id);
    log.append(skippedEverywhere(other?.id), renamed('f1', 'after'));
    await eventually(() => statuses().every(({ state }) => state === 'running'), 'both run again');
    await caughtUp();
    const expected = [{ flowId: 'f1', name: 'after', seen: 101 }];
    assert.deepEqual([await all('flows'), await all('fragile')], [expected, expected]);
    log.append(operator('ProjectionRebuildRequested', { projection: 'flows' }));
    await restart([flows(), fragile, { ...flows(), name: 'later' }]);
    await caughtUp();
    await eventually(() => statuses().every(({ state }) => state === 'running'), 'all are rebuilt');
    assert.deepEqual([await all('flows'), await all('later')], [expected, expected]);
    assert.equal(errors.length, 4);
  });

  it('finds the events that are skipped everywhere although another request about events cannot be read', async () => {
    const [, poison] = log.append(created('f1'), renamed('f1', 'poison'));
    const [request] = log.append(skippedEverywhere(poison?.id), skippedEverywhere('damaged'));
    log.damage(log.events.at(-1)?.id ?? '');
    await start([flows()]);
    await caughtUp();
    assert.deepEqual([statusOf('flows').state, request?.revision], ['running', 0]);
  });

  for (const unwritable of ['bigint', 'cycle', 'function']) {
    it(`stops only the projection whose document cannot be written as JSON: ${unwritable}`, async () => {
      log.append(created('f1'));
      await start([flows(), unwritableNames]);
      await caughtUp();
      const [, poison] = log.append(renamed('f1', 'fine'), renamed('f1', unwritable));
      await eventually(() => statusOf('unwritable').state === 'stopped', 'it has stopped');
      assert.equal(statusOf('unwritable').failure?.eventId, poison?.id);
      assert.deepEqual(await all('unwritable'), [{ name: 'fine' }]);
      log.append(renamed('f1', 'after'));
      await caughtUp();
      assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'after', seen: 103 }]);
      log.append(operator('ProjectionEventSkipped', { projection: 'unwritable', eventId: poison?.id ?? '' }));
      await eventually(() => statusOf('unwritable').state === 'running', 'the projection runs again');
      await caughtUp();
      assert.deepEqual(await all('unwritable'), [{ name: 'after' }]);
      log.append(operator('ProjectionRebuildRequested', { projection: 'unwritable' }));
      await restart([flows(), unwritableNames]);
      await caughtUp();
      assert.deepEqual(await all('unwritable'), [{ name: 'after' }]);
      assert.equal(errors.length, 1);
    });
  }

  it('stops a projection that gives a document no text id, or removes by members without an index', async () => {
    const nameless = { ...flows(), name: 'nameless', keys: () => [undefined] };
    const removal = { removeWhere: () => ({ number: 1 }) };
    const unindexed = { ...versions, name: 'unindexed', on: { ...versions.on, FlowDeleted: removal } };
    log.append(created('f1'), version('f1', 1), deleted('f1'));
    await start([flows(), nameless as unknown as AnyProjection, unindexed]);
    await caughtUp();
    assert.deepEqual(
      running()
        .status()
        .map(({ state }) => state),
      ['running', 'stopped', 'stopped'],
    );
    assert.match(statusOf('nameless').failure?.message ?? '', /no text/);
    assert.match(statusOf('unindexed').failure?.message ?? '', /no index: number/);
  });

  it('commits early when a batch touches more bytes than may be in memory', async () => {
    const large = 'x'.repeat(700_000);
    const ids = Array.from({ length: 12 }, (_, index) => `f${index}`);
    log.append(...ids.map((id) => created(id, large)));
    await start([flows()]);
    await caughtUp();
    await closeAll();
    open();
    log.append(...ids.map((id) => renamed(id, 'short')), renamed('f0', 'last'));
    const counting = counted(writer);
    await start([flows()], counting.writer);
    await caughtUp();
    assert.ok(counting.count() >= 3, `${counting.count()} commits`);
    assert.deepEqual(
      (await all('flows')).map((flow) => (flow as Flow).seen),
      [102, ...ids.slice(1).map(() => 101)],
    );
  });

  it('retries on an operator’s request, and stops again at an unchanged failure', async () => {
    log.append(created('f1'), renamed('f1', 'poison'));
    await start();
    await eventually(() => statusOf('flows').state === 'stopped', 'flows has stopped');
    log.append(operator('ProjectionRetried', { projection: 'flows' }));
    await eventually(() => errors.length === 2, 'the projection has stopped again');
    assert.equal(statusOf('flows').state, 'stopped');
  });

  it('logs nothing for an empty log, and logs once when the read models are built', async () => {
    const messages: string[] = [];
    const logger = {
      info: (_: object, message: string) => messages.push(message),
      warn: assert.fail,
      error: assert.fail,
    };
    const startLogged = async (projections: ReadonlyArray<AnyProjection>) => {
      runner = await startProjectionRunner({ projections, events: log, tail: log.tail, store: writer, log: logger });
      await caughtUp();
    };
    await startLogged([flows(), versions]);
    assert.deepEqual(messages, []);
    log.append(created('f1'), version('f1', 1));
    await caughtUp();
    await closeAll();
    open();
    await startLogged([flows(2), versions]);
    await eventually(() => statusOf('flows').state === 'running', 'the read model is built');
    await eventually(() => messages.length > 0, 'the message is logged');
    assert.deepEqual(messages, ['Read models are built']);
  });

  it('logs the begin and the end of a long rebuild', async () => {
    const messages: (readonly [string, unknown])[] = [];
    const info = (fields: Readonly<Record<string, unknown>>, message: string) =>
      messages.push([message, fields.projections]);
    log.append(...Array.from({ length: 6000 }, (_, index) => created(`f${index}`)));
    const logger = { info, warn: assert.fail, error: assert.fail };
    runner = await startProjectionRunner({
      projections: [flows(), versions],
      events: log,
      tail: log.tail,
      store: writer,
      log: logger,
    });
    await eventually(() => messages.length > 1, 'the message is logged');
    assert.deepEqual(messages, [
      ['Read models are being built', ['flows', 'versions']],
      ['Read models are built', ['flows', 'versions']],
    ]);
  });

  it('rebuilds a new version beside the current generation, and swaps it in', async () => {
    log.append(created('f1'), renamed('f1', 'a'));
    await start();
    await caughtUp();
    log.append(created('f2'));
    await closeAll();
    open();
    const held = gated(writer);
    held.close();
    await start([flows(2), versions], held.writer);
    await eventually(() => held.waiting() > 0, 'a commit is held');
    assert.equal(statusOf('flows').state, 'rebuilding');
    assert.deepEqual([statusOf('flows').ready, running().positions()[0]?.live], [true, false]);
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'a', seen: 101 }]);
    held.open();
    await eventually(() => statusOf('flows').state === 'running', 'the new generation is swapped in');
    assert.deepEqual(await all('flows'), [
      { flowId: 'f1', name: 'a', seen: 201 },
      { flowId: 'f2', name: 'f2', seen: 200 },
    ]);
  });

  it('obeys a rebuild request once, however often it restarts', async () => {
    log.append(created('f1'));
    await start();
    await caughtUp();
    const before = (await writer.generations('flows')).current?.number ?? 0;
    log.append(operator('ProjectionRebuildRequested', { projection: 'flows' }));
    await eventually(async () => {
      const { current } = await writer.generations('flows');
      return current !== null && current.number > before && current.complete;
    }, 'the projection is rebuilt');
    const rebuilt = (await writer.generations('flows')).current?.number;
    // The crash loses the record that the request was obeyed.
    await running().close();
    await writer.saveOperatorState({ position: 0, skipped: {} });
    await restart();
    await caughtUp();
    assert.equal((await writer.generations('flows')).current?.number, rebuilt);
    assert.equal((await writer.generations('flows')).filling, null);
  });

  it('rebuilds all projections that are requested together in one pass over the log', async () => {
    log.append(...Array.from({ length: 950 }, (_, index) => created(`f${index}`)));
    await start();
    await caughtUp();
    const numbers = async () => {
      const generations = await Promise.all(['flows', 'versions'].map((name) => writer.generations(name)));
      return generations.map(({ current, filling }) => (filling === null ? (current?.number ?? 0) : 0));
    };
    const before = await numbers();
    const { requests } = log.pages;
    const requestsBefore = requests.length;
    log.append(
      operator('ProjectionRebuildRequested', { projection: 'flows' }),
      operator('ProjectionRebuildRequested', { projection: 'versions' }),
    );
    await eventually(
      async () => (await numbers()).every((number, index) => number > (before[index] ?? 0)),
      'both projections are rebuilt',
    );
    // A pass takes two pages. The second request may come when the first page was read.
    const pages = requests.slice(requestsBefore).filter(({ types }) => types !== undefined).length;
    assert.ok(pages <= 3, `${pages} pages`);
    assert.equal((await all('flows')).length, 950);
  });

  it('stores few commits of a rebuild, and one for each batch while live events arrive', async () => {
    let commits = 0;
    const counting = withCommit(writer, async (given) => {
      if (given.some(({ generation }) => !generation.complete && generation.name === 'flows')) commits += 1;
      await writer.commit(given);
    });
    log.append(...Array.from({ length: 2_500 }, (_, index) => created(`f${index}`)));
    await start([flows()], counting);
    await caughtUp();
    assert.equal(commits, 1);
    commits = 0;
    log.append(operator('ProjectionRebuildRequested', { projection: 'flows' }));
    await eventually(() => statusOf('flows').state === 'rebuilding', 'the rebuild begins');
    await eventually(() => statusOf('flows').state === 'running', 'the projection is rebuilt');
    assert.ok(commits > 1, `${commits} commits`);
  });

  it('applies live events during a rebuild', async () => {
    log.append(created('f1'));
    await start();
    await caughtUp();
    log.append(operator('ProjectionRebuildRequested', { projection: 'flows' }));
    for (let index = 0; index < 200; index += 1) {
      log.append(renamed('f1', `n${index}`), created(`g${index}`), version(`g${index}`, 1));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => statusOf('flows').state === 'running', 'the projection is rebuilt');
    await caughtUp();
    assert.deepEqual(await reader.get('flows', 'f1').then((flow) => flow?.value), {
      flowId: 'f1',
      name: 'n199',
      seen: 300,
    });
    assert.deepEqual(await fromZero([flows(), versions]), await stored(['flows', 'versions']));
  });

  it('fills the same documents as a plain loop over the events, over many commits', async () => {
    const events = Array.from({ length: 30_000 }, (_, index) => {
      const flowId = `f${(index * 31) % 9000}`;
      if (index < 9000) return created(`f${index}`);
      return index % 50 === 0
        ? deleted(flowId)
        : index % 5 === 0
          ? version(flowId, index)
          : renamed(flowId, `n${index}`);
    });
    log.append(...events);
    const seen = new Map<string, number>();
    const left = new Map<string, string>();
    for (const { type, data } of events) {
      const flowId = String(data.flowId);
      if (type === 'FlowCreated') seen.set(flowId, 100);
      if (type === 'FlowRenamed' && seen.has(flowId)) seen.set(flowId, (seen.get(flowId) ?? 0) + 1);
      if (type === 'VersionCreated') left.set(`${flowId}-${data.number}`, flowId);
      if (type !== 'FlowDeleted') continue;
      seen.delete(flowId);
      for (const [id, of] of left) if (of === flowId) left.delete(id);
    }
    await start();
    await caughtUp();
    const page = { limit: 100_000, maxBytes: 1e9 };
    const flowsMade = await reader.list<Flow>('flows', {}, page);
    assert.deepEqual(new Map(flowsMade.documents.map(({ id, value }) => [id, value.seen])), seen);
    const versionsMade = await reader.list('versions', {}, page);
    assert.deepEqual(new Set(versionsMade.documents.map(({ id }) => id)), new Set(left.keys()));
  });

  it('keeps serving the old documents when a rebuild fails', async () => {
    log.append(created('f1'));
    await start();
    await caughtUp();
    const strict = { ...flows(2), on: { FlowCreated: () => assert.fail('never') } } as AnyProjection;
    await restart([strict, versions]);
    await eventually(() => statusOf('flows').state === 'stopped', 'flows has stopped');
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'f1', seen: 100 }]);
  });

  it('names the streams that lacked events when a read model was built, after restarts too, until a rebuild finds them whole', async () => {
    log.append(created('f1'), version('f1', 1), renamed('f1', 'late'), created('f2'));
    log.scavenge('flow-f1', 2);
    await start();
    await caughtUp();
    const first = [{ stream: 'flow-f1', expectedRevision: 0, revision: 2 }];
    assert.deepEqual(statusOf('flows').incompleteStreams, { count: 1, isExact: true, first });
    // Of that stream, it handles only events that are gone.
    assert.equal(statusOf('versions').incompleteStreams.count, 0);
    assert.deepEqual(
      (await all('flows')).map((flow) => ({ ...flow })),
      [{ flowId: 'f2', name: 'f2', seen: 100 }],
    );
    log.append(renamed('f1', 'later'), renamed('f2', 'renamed'));
    await caughtUp();
    await restart();
    await caughtUp();
    assert.equal(statusOf('flows').incompleteStreams.count, 1);

    log.lose(log.events.find(({ data }) => data.name === 'late')?.id ?? '');
    log.lose(log.events.find(({ data }) => data.name === 'later')?.id ?? '');
    log.append(operator('ProjectionRebuildRequested', { projection: 'flows' }));
    await eventually(() => statusOf('flows').incompleteStreams.count === 0, 'the rebuild has found no gap');
    await restart();
    await caughtUp();
    assert.equal(statusOf('flows').incompleteStreams.count, 0);
  });

  it('checks the streams from the beginning after a build was interrupted', async () => {
    for (let flow = 0; flow < 6_000; flow += 1) log.append(created(`f${flow}`), renamed(`f${flow}`, 'new'));
    log.scavenge('flow-f1', 1);
    log.scavenge('flow-f5999', 1);
    let commits = 0;
    const dying = withCommit(writer, async (commit) => {
      commits += 1;
      if (commits > 1) throw new Error('The process is dead.');
      await writer.commit(commit);
    });
    await assert.rejects((await start([flows()], dying)).finished, /dead/);
    runner = null;
    const interrupted = (await writer.generations('flows')).current;
    assert.ok(interrupted?.complete === false && interrupted.checkpoint > 100, JSON.stringify(interrupted));
    await restart([flows()]);
    await caughtUp();
    assert.deepEqual(
      statusOf('flows').incompleteStreams.first.map(({ stream }) => stream),
      ['flow-f1', 'flow-f5999'],
    );
  }).timeout(30_000);

  it('drops the documents of a projection that no longer exists', async () => {
    log.append(created('f1'));
    await start();
    await caughtUp();
    await restart([versions]);
    await caughtUp();
    await assert.rejects(reader.get('flows', 'f1'), UnavailableError);
  });

  it('rebuilds from zero on a different log of any length, and serves nothing from the previous log', async () => {
    await start();
    await caughtUp();
    // The runner first saw this log empty.
    log.append(created('f1'), renamed('f1', 'a'), version('f1', 1));
    await caughtUp();
    await closeAll();
    log = new InMemoryEventStore();
    log.append(created('g1'), created('f1'), version('g1', 1), renamed('f1', 'b'), renamed('g1', 'c'));
    open();
    const held = gated(writer);
    held.close();
    await start(undefined, held.writer);
    await eventually(() => held.waiting() > 0, 'a commit is held');
    assert.deepEqual([statusOf('flows').ready, statusOf('versions').ready], [false, false]);
    held.open();
    await caughtUp();
    await eventually(async () => (await all('flows')).length === 2, 'all documents are there');
    assert.deepEqual(await stored(['flows', 'versions']), await fromZero([flows(), versions]));
    const rebuilt = (await writer.generations('flows')).current?.number;
    await restart();
    await caughtUp();
    assert.equal((await writer.generations('flows')).current?.number, rebuilt, 'the known log was filled again');
  });

  it('rebuilds from zero again when it ended before it knew the different log as a whole', async () => {
    log.append(created('f1'));
    await start();
    await caughtUp();
    await closeAll();
    log = new InMemoryEventStore();
    log.append(created('g1'), renamed('g1', 'a'), version('g1', 1));
    open();
    const held = gated(writer);
    held.close();
    await start(undefined, held.writer);
    await eventually(() => held.waiting() > 0, 'a commit is held');
    const closed = running().close();
    held.open();
    await closed;
    await restart();
    await caughtUp();
    await eventually(async () => (await all('versions')).length === 1, 'all documents are there');
    assert.deepEqual(await stored(['flows', 'versions']), await fromZero([flows(), versions]));
  });

  it('rebuilds from zero on a restored log that has grown past its checkpoint, and serves nothing from before', async () => {
    log.append(created('f1'), created('f2'), renamed('f2', 'lost'));
    await start();
    await caughtUp();
    await closeAll();
    log = log.backup(2);
    log.append(renamed('f1', 'a'), created('f3'), version('f3', 1), renamed('f3', 'b'));
    open();
    const held = gated(writer);
    held.close();
    await start(undefined, held.writer);
    await eventually(() => held.waiting() > 0, 'a commit is held');
    assert.deepEqual([statusOf('flows').ready, statusOf('versions').ready], [false, false]);
    // The next start must still know it.
    const closed = running().close();
    held.open();
    await closed;
    await restart();
    await caughtUp();
    await eventually(async () => (await all('flows')).length === 3, 'all documents are there');
    assert.deepEqual(await stored(['flows', 'versions']), await fromZero([flows(), versions]));
  });

  it('rebuilds from zero on a log that ends before its checkpoint', async () => {
    log.append(created('f1'), created('f2'), created('f3'));
    await start();
    await caughtUp();
    log = new InMemoryEventStore();
    log.append(created('g1'));
    await restart();
    await eventually(() => statusOf('flows').state === 'running', 'the projection is rebuilt');
    assert.deepEqual((await all('flows')).length, 1);
  });

  it('waits while the store is unavailable, and loses no event', async () => {
    log.append(created('f1'), renamed('f1', 'a'));
    let failures = 0;
    const failing: ReadStoreWriter = withCommit(writer, async (commits) => {
      failures += 1;
      if (failures % 3 !== 0) throw new UnavailableError('The disk is full.');
      await writer.commit(commits);
    });
    await start([flows()], failing);
    await caughtUp();
    log.append(renamed('f1', 'b'));
    await caughtUp();
    assert.deepEqual(await all('flows'), [{ flowId: 'f1', name: 'b', seen: 102 }]);
    assert.ok(failures >= 6);
  });

  it('marks commits of documents that hold the ETags of others', async () => {
    log.append(created('f1'), version('f1', 1));
    const holders = new Map<string, boolean | undefined>();
    const noting = withCommit(writer, async (commits) => {
      for (const { generation, holdsETags } of commits) holders.set(generation.name, holdsETags);
      await writer.commit(commits);
    });
    await start([{ ...flows(), holdsETags: true }, versions], noting);
    await caughtUp();
    assert.deepEqual(Object.fromEntries(holders), { flows: true, versions: false });
  });

  it('rejects `finished` when the store fails with an error that no retry resolves', async () => {
    log.append(created('f1'));
    await start(
      [flows()],
      withCommit(writer, async () => assert.fail('damaged')),
    );
    await assert.rejects(running().finished, /damaged/);
    runner = null;
  });

  it('ends with the documents of a rebuild from zero, whichever two writes it is stopped between', async () => {
    const events = flowHistory(400);
    let crashAfter = 0;
    for (const [index, part] of chunks(events, 40).entries()) {
      log.append(...part);
      if (index % 4 === 2) log.append(operator('ProjectionRebuildRequested', { projection: 'flows' }));
      crashAfter = (crashAfter % 5) + 1;
      const assertWriterDied = (error: Error) => assert.match(error.message, /dead/);
      const begun = await start([flows(), versions], failingAfter(writer, crashAfter)).catch(assertWriterDied);
      if (begun) await Promise.race([begun.finished.catch(assertWriterDied), caughtUp()]);
      await closeAll();
      open();
    }
    await start();
    await caughtUp();
    await eventually(
      () =>
        running()
          .status()
          .every(({ state }) => state === 'running'),
      'all projections run',
    );
    assert.deepEqual(await stored(['flows', 'versions']), await fromZero([flows(), versions]));
  });
});

/** A history of flows that are created, changed and deleted. */
function flowHistory(length: number): ReadonlyArray<GivenEvent> {
  return Array.from({ length }, (_, index) => {
    const flowId = `f${(index * 7) % 23}`;
    if (index % 11 === 10) return deleted(flowId);
    if (index % 3 === 0) return created(flowId);
    return index % 3 === 1 ? version(flowId, index) : renamed(flowId, `n${index}`);
  });
}

function chunks<Item>(items: ReadonlyArray<Item>, size: number): ReadonlyArray<ReadonlyArray<Item>> {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Forwards every call to the writer except commits. */
function withCommit(writer: ReadStoreWriter, commit: ReadStoreWriter['commit']): ReadStoreWriter {
  return forwarding(writer, (method, args) =>
    method === 'commit' ? commit(...(args as Parameters<ReadStoreWriter['commit']>)) : undefined,
  );
}

/** A writer that stores nothing from its n-th write on, as if its process had died. */
function failingAfter(writer: ReadStoreWriter, writes: number): ReadStoreWriter {
  let left = writes;
  return forwarding(writer, (method) => {
    if (['generations', 'read', 'operatorState', 'readOfLog'].includes(method)) return undefined;
    left -= 1;
    return left < 0 ? Promise.reject(new Error('The process is dead.')) : undefined;
  });
}

/** A writer whose commits wait while it is closed. */
function gated(writer: ReadStoreWriter) {
  let blocked: Promise<void> | null = null;
  let release = () => {};
  let waiting = 0;
  return {
    writer: withCommit(writer, async (...commit) => {
      waiting += 1;
      await blocked;
      waiting -= 1;
      await writer.commit(...commit);
    }),
    close: () => {
      blocked = new Promise((resolve) => {
        release = resolve;
      });
    },
    open: () => {
      blocked = null;
      release();
    },
    waiting: () => waiting,
  };
}

/** @param before answers in place of the writer; undefined passes the call on */
function forwarding(
  writer: ReadStoreWriter,
  before: (method: string, args: ReadonlyArray<unknown>) => Promise<void> | undefined,
): ReadStoreWriter {
  return new Proxy(writer, {
    get(target, method) {
      const member: unknown = Reflect.get(target, method, target);
      if (typeof member !== 'function') return member;
      return (...args: ReadonlyArray<unknown>) => before(String(method), args) ?? member.apply(target, args);
    },
  });
}

function flowEvent(type: string, data: GivenEvent['data']): GivenEvent {
  return { stream: `flow-${String(data.flowId)}`, type, data };
}

function operator(type: string, data: { readonly projection: string; readonly eventId?: string }): GivenEvent {
  return { stream: `projection-${data.projection}`, type, data };
}

function skippedEverywhere(eventId = ''): GivenEvent {
  return { stream: 'event-skipped', type: 'EventSkipped', data: { eventId } };
}

/** A writer that counts the commits made through it. */
function counted(writer: ReadStoreWriter): { readonly writer: ReadStoreWriter; readonly count: () => number } {
  let commits = 0;
  const counting = new Proxy(writer, {
    get: (target, name) => {
      if (name === 'commit') commits += 1;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { writer: counting, count: () => commits };
}
