import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noStream } from '#event-store/event-store.ts';
import { openSqliteEventStore, type SqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { testMetadata } from '#test/support/fakes/in-memory-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('EmbeddedProjections', () => {
  let folder: string;
  let store: SqliteEventStore;
  let reader: ReadStore;
  let projector: EmbeddedProjections;
  let positions: Positions;
  let errors: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'projector-thread-'));
    errors = [];
    positions = new Positions(new Admission());
    store = await openSqliteEventStore({ file: join(folder, 'events.db') });
    reader = openSqliteReadStore(join(folder, 'read.db'));
    projector = await start();
  });
  afterEach(async () => {
    positions.close();
    await projector.close();
    await reader.close();
    await store.close();
    await rm(folder, { recursive: true });
  });

  const start = async () => {
    const projections = new EmbeddedProjections({
      positions,
      events: () => ({ kind: 'sqlite', file: join(folder, 'events.db'), wake: store.changePort() }),
      readStore: { kind: 'sqlite', file: join(folder, 'read.db') },
      projectionsModule: new URL('../../support/fakes/thread-projections.ts', import.meta.url),
      log: { info: () => undefined, warn: () => undefined, error: (_, message) => errors.push(message) },
    });
    await projections.start();
    return projections;
  };
  const passedBy = (types: ReadonlyArray<string>, position: number, ms = 60_000) =>
    positions.passed({ types }, position, { ms });
  const passedByNamed = (name: string, position: number, ms: number) =>
    positions.passed({ names: [name] }, position, { strict: true, ms });
  const append = async (type: string, data: JsonObject): Promise<number> => {
    const event = { id: randomUUID(), type, data: JSON.stringify(data), metadata: JSON.stringify(testMetadata) };
    const outcome = await store.append(`thing-${randomUUID()}`, noStream, [event]);
    assert.ok(outcome._tag === 'Right');
    return outcome.right.position;
  };
  const count = async (collection: string, id: string) =>
    (await reader.get<{ readonly count: number }>(collection, id))?.value.count;
  const ready = () => eventually(() => projector.following().live, 'the projector is ready');

  it('lets a reader see its own write after each of fifty waits', async () => {
    await ready();
    for (let expected = 1; expected <= 50; expected += 1) {
      const position = await append('Counted', { id: 'a' });
      assert.equal(await passedBy(['Counted'], position, 5000), 'reached');
      assert.equal(await count('counters', 'a'), expected);
      assert.equal(await count('fragile', 'a'), expected);
    }
  });

  it('ends a wait immediately when no projection handles the event type', async () => {
    await ready();
    assert.equal(await passedBy(['SomethingElse'], 1e9, 60_000), 'reached');
  });

  it('answers timeout when the log does not reach the position in time', async () => {
    await ready();
    assert.equal(await passedBy(['Counted'], 1e9, 20), 'timeout');
    assert.equal(await passedByNamed('counters', 1e9, 20), 'timeout');
  });

  it('reaches a position that a projection passes without handling the event', async () => {
    await ready();
    const position = await append('SomethingElse', { id: 'a' });
    assert.equal(await passedByNamed('counters', position, 5000), 'reached');
  });

  it('skips a stopped projection in a wait by event type, but waits for it when it is named', async () => {
    await ready();
    const states: string[] = [];
    const end = projector.onStatus((statuses) => states.push(statuses[1]?.state ?? ''));
    await append('Poisoned', { id: 'a' });
    await eventually(() => projector.status()[1]?.state === 'stopped', 'fragile has stopped');
    assert.equal(states.at(-1), 'stopped');
    end();
    const position = await append('Counted', { id: 'a' });
    assert.equal(await passedBy(['Counted'], position, 5000), 'reached');
    assert.equal(await count('counters', 'a'), 1);
    assert.equal(await passedByNamed('fragile', position, 20), 'timeout');
    assert.equal(projector.following().live, true);
  });

  it('obeys an operator’s requests to skip an event and to rebuild a projection', async () => {
    await ready();
    await append('Poisoned', { id: 'a' });
    await eventually(() => projector.status()[1]?.state === 'stopped', 'fragile has stopped');
    const eventId = projector.status()[1]?.failure?.eventId ?? '';
    await append('ProjectionEventSkipped', { projection: 'fragile', eventId });
    await append('ProjectionRebuildRequested', { projection: 'counters' });
    await append('Counted', { id: 'a' });
    await eventually(async () => {
      const counts = [await count('fragile', 'a'), await count('counters', 'a')];
      return counts.every((one) => one === 1) && projector.status().every(({ state }) => state === 'running');
    }, 'both have counted');
  });

  it('continues from its checkpoint after it was closed', async () => {
    await ready();
    await append('Counted', { id: 'a' });
    await projector.close();
    assert.deepEqual(projector.following(), { live: false, detail: 'thread closed' });
    await append('Counted', { id: 'a' });
    projector = await start();
    await ready();
    assert.equal(await count('counters', 'a'), 2);
  });

  it('restarts a thread that has died, and logs one error', async () => {
    await ready();
    const killFile = join(folder, 'kill');
    await writeFile(killFile, '');
    const details: string[] = [];
    projector.onStatus(() => details.push(projector.following().detail));
    await append('Counted', { id: 'a' });
    await append('ThreadKilled', { id: 'b', killFile });
    const position = await append('Counted', { id: 'a' });
    await eventually(() => details.length > 0, 'it is down');
    assert.match(details[0] ?? '', /^thread restarting: .*code 7/);
    assert.equal(await passedBy(['Counted'], 1e9, 60_000), 'reached');
    await eventually(() => projector.following().live, 'it is ready again');
    assert.equal(await passedByNamed('counters', position, 5000), 'reached');
    assert.equal(await count('counters', 'a'), 2);
    assert.equal(errors.length, 1);
  });

  it('rejects a start in a folder that does not exist', async () => {
    const attempt = new EmbeddedProjections({
      positions: new Positions(new Admission()),
      events: () => ({ kind: 'sqlite', file: join(folder, 'events.db'), wake: store.changePort() }),
      readStore: { kind: 'sqlite', file: join(folder, 'missing', 'read.db') },
      projectionsModule: new URL('../../support/fakes/thread-projections.ts', import.meta.url),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    await assert.rejects(attempt.start(), /could not be started: .*unable to open/);
  });
});
