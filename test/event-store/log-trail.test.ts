import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type LogMark, nothingRead } from '#domain/shared/log-mark.ts';
import { compareLog } from '#event-store/log-comparison.ts';
import type { LogPageRequest } from '#event-store/log-pages.ts';
import { LogTrail } from '#event-store/log-trail.ts';
import { type GivenEvent, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const event = (number: number, stream = 'flow-one'): GivenEvent => ({ stream, type: 'Numbered', data: { number } });
const events = (count: number, stream?: string) => Array.from({ length: count }, (_, number) => event(number, stream));

/** What a reader of pages of some size has read of a log. */
async function readAll(log: InMemoryEventStore, maxEvents = 1_000) {
  const trail = new LogTrail();
  for (let after = 0; ; ) {
    const page = await log.readPage({ after, maxEvents });
    trail.addPage(page, true);
    if (page.isEnd) return trail;
    after = page.position;
  }
}

describe('LogTrail', () => {
  it('keeps the first and the last event, and never more than seventy marks', async () => {
    const log = new InMemoryEventStore();
    const recorded = log.append(...events(3_000));
    const { marks } = (await readAll(log, 7)).read;
    assert.equal(marks[0]?.id, recorded[0]?.id);
    assert.equal(marks.at(-1)?.id, recorded.at(-1)?.id);
    assert.ok(marks.length <= 70, `${marks.length} marks`);
  });

  it('has a mark about as far before any loss as the loss is long', async () => {
    const log = new InMemoryEventStore();
    const last = log.append(...events(5_000)).at(-1)?.position ?? 0;
    const { marks } = (await readAll(log, 10)).read;
    for (let lost = 3; lost < last / 4; lost *= 2) {
      const before = marks.findLast(({ position }) => position <= last - lost);
      assert.ok(before !== undefined && last - before.position <= 4 * lost + 30, `${lost} positions are lost`);
    }
  });

  it('has no mark of metering, which may expire', async () => {
    const log = new InMemoryEventStore();
    const [first] = log.append(event(1), ...events(5, 'usage-2026-01-01-node'));
    const { marks, readTo } = (await readAll(log)).read;
    assert.deepEqual(marks, [{ position: first?.position, id: first?.id }]);
    assert.equal(readTo, await log.lastPosition());
  });
});

describe('compareLog', () => {
  const { signal } = new AbortController();
  const compare = async (trail: LogTrail, pages: InMemoryEventStore, graceMs = 0) =>
    compareLog(trail.read, { pages, graceMs, signal });
  const markOf = (log: InMemoryEventStore, index: number): LogMark => {
    const { position, id } = log.events.at(index) ?? assert.fail();
    return { position, id };
  };

  it('finds no loss in the same log, however far it has grown', async () => {
    const log = new InMemoryEventStore();
    log.append(...events(10));
    const trail = await readAll(log);
    const common = markOf(log, -1);
    log.append(...events(10));
    assert.deepEqual(await compare(trail, log), { lost: null, common });
  });

  it('finds no loss within two answers of the store, however many marks there are', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const log = new InMemoryEventStore();
    log.append(...events(3_000));
    const trail = await readAll(log, 10);
    const slow = {
      eventAt: (position: number) => time.wait(400).then(() => log.eventAt(position)),
      readPage: (request: LogPageRequest) => time.wait(400).then(() => log.readPage(request)),
    };
    let found: unknown = null;
    void compareLog(trail.read, { pages: slow, graceMs: 0, signal }).then((comparison) => {
      found = comparison;
    });
    await time.pass(800);
    assert.deepEqual(found, { lost: null, common: markOf(log, -1) });
  });

  it('finds no loss where nothing was read', async () => {
    const pages = new InMemoryEventStore();
    assert.deepEqual(await compareLog(nothingRead, { pages, graceMs: 0, signal }), { lost: null, common: null });
  });

  it('finds the newest common mark of a log and a backup of it, whatever was stored since', async () => {
    const numbers = fc.record({ read: fc.integer({ min: 2, max: 200 }), more: fc.integer({ min: 0, max: 300 }) });
    await fc.assert(
      fc.asyncProperty(numbers, fc.double({ min: 0, max: 0.99, noNaN: true }), async ({ read, more }, share) => {
        const log = new InMemoryEventStore();
        log.append(...events(read));
        const trail = await readAll(log, 9);
        const kept = Math.max(1, Math.floor(read * share));
        const restored = log.backup(kept);
        restored.append(...events(more));
        const { lost, common } = await compare(trail, restored);
        assert.deepEqual(lost, markOf(log, -1));
        assert.ok(common !== null && common.position <= markOf(log, kept - 1).position);
      }),
      { numRuns: 50 },
    );
  });

  it('finds nothing in common with another log', async () => {
    const [log, other] = [new InMemoryEventStore(), new InMemoryEventStore()];
    log.append(...events(5));
    other.append(...events(5));
    assert.equal((await compare(await readAll(log), other)).common, null);
  });

  it('finds an event that was stored at a position that was read before, without one', async () => {
    const log = new InMemoryEventStore();
    log.append(event(1), ...events(3, 'usage-2026-01-01-node'));
    const trail = await readAll(log);
    const restored = log.backup(1);
    restored.append(event(2), ...events(5));
    assert.deepEqual(await compare(trail, restored), { lost: markOf(log, 0), common: markOf(log, 0) });
  });

  it('finds a mixture of two logs, whose newest event is of the log that answers', async () => {
    const log = new InMemoryEventStore();
    log.append(...events(6));
    const trail = await readAll(log);
    const restored = log.backup(3);
    restored.append(...events(10));
    trail.addPage(await restored.readPage({ after: log.events.at(-1)?.position ?? 0, maxEvents: 5 }), true);
    const { lost, common } = await compare(trail, restored);
    assert.deepEqual(lost, trail.newest);
    assert.deepEqual(common, markOf(log, 2));
  });

  it('finds such an event behind any number of metering events', async () => {
    const log = new InMemoryEventStore();
    log.append(event(1), ...events(2_500, 'usage-2026-01-01-node'));
    const trail = await readAll(log);
    const restored = log.backup(2_400);
    restored.append(...events(200));
    assert.deepEqual((await compare(trail, restored)).lost, markOf(log, 0));
  });

  it('asks again for a missing event, because the node may only be behind', async () => {
    const log = new InMemoryEventStore();
    const [, last] = log.append(...events(2));
    const trail = await readAll(log);
    let asked = 0;
    const behind = {
      eventAt: (position: number) => {
        asked += 1;
        return asked > 2 || position !== last?.position ? log.eventAt(position) : Promise.resolve(null);
      },
      readPage: (request: Parameters<typeof log.readPage>[0]) => log.readPage(request),
    };
    const compared = await compareLog(trail.read, { pages: behind, graceMs: 10_000, signal });
    assert.deepEqual(compared, { lost: null, common: markOf(log, -1) });
  });
});
