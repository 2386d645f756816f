import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchRunner, type BatchRunnerOptions } from '#processes/batches/batch-runner.ts';
import type { BatchStoreOptions } from '#processes/batches/batch-store.ts';
import { LeftLines } from '#processes/batches/left-lines.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { currentOwner } from '#shared/async/fair-queue.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const created = (id: string) => ({ stream: `batch-${id}`, type: 'BatchCreated', data: { id, projectId: 'one' } });

/** A read model that shows everything. */
const positions = { passed: async () => 'reached' as const };

function runnerOf(options: object, signal: AbortSignal): BatchRunner {
  const needed = { space: {}, blobs: {}, writer: {}, left: new LeftLines({} as BatchStoreOptions), ...options };
  const term = { token: 1, signal, stopping: signal, isHeld: () => true, guard: <Port>(port: Port) => port };
  return new BatchRunner(needed as unknown as BatchRunnerOptions, term);
}

describe('BatchRunner', () => {
  it('begins the batches that are created during a term immediately, and no others', async () => {
    const begun: string[] = [];
    const owners: string[] = [];
    let endTerm = new AbortController();
    const log = new InMemoryEventStore();
    const options = {
      tail: log.tail,
      positions,
      documents: { list: async () => ({ documents: [], next: null }) },
      writer: {
        load: () => {
          owners.push(currentOwner());
          return Promise.reject(new UnavailableError('away'));
        },
      },
      log: { warn: ({ batch }: { batch: string }) => void begun.push(batch), error: () => assert.fail() },
    };
    const term = () => runnerOf(options, endTerm.signal).run();

    log.append(created('before'));
    let running = term();
    await nextTurn();
    log.append(created('first'));
    await eventually(() => begun.includes('first'), 'the first batch');
    log.append(created('second'));
    await eventually(() => begun.includes('second'), 'the second batch');
    endTerm.abort();
    await running;
    log.append(created('between'));
    endTerm = new AbortController();
    running = term();
    await nextTurn();
    log.append(created('third'));
    await eventually(() => begun.includes('third'), 'the third batch');
    endTerm.abort();
    await running;
    assert.deepEqual(begun, ['first', 'second', 'third']);
    assert.deepEqual(new Set(owners), new Set(['one']), 'a batch is run for its project');
  });

  it('looks for open batches less and less often while there are none', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const looks: number[] = [];
    const endTerm = new AbortController();
    const list = async () => {
      looks.push(Math.round(time.now / 1_000));
      return { documents: [], next: null };
    };
    const tail = new InMemoryEventStore().tail;
    const running = runnerOf({ tail, documents: { list }, positions }, endTerm.signal).run();
    await time.pass(120_000);
    endTerm.abort();
    await time.pass(1);
    await running;
    assert.deepEqual(
      looks.slice(-3).map((at, index, all) => at - (all[index - 1] ?? at)),
      [0, 30, 30],
    );
    assert.ok(looks.length <= 9, String(looks));
  });

  for (const [what, isFailing] of [
    ['the read model shows it late', false],
    ['the looks fail', true],
  ] as const) {
    it(`begins a batch from before the term within two seconds although ${what} for half a minute`, async () => {
      using time = new SimulatedTime(new Random(1)).install();
      const begunAt: number[] = [];
      const endTerm = new AbortController();
      const shownAt = 30_000;
      const list = async () => {
        const isShown = time.now >= shownAt;
        if (!isShown && isFailing) throw new UnavailableError('away');
        const documents = [{ id: 'before', order: 0, position: 0, value: { projectId: 'one' } }];
        return { documents: isShown ? documents : [], next: null };
      };
      const passed = async () => {
        await delay(shownAt - time.now);
        return 'reached' as const;
      };
      const load = () => {
        begunAt.push(time.now);
        return Promise.reject(new UnavailableError('away'));
      };
      const log = { warn: () => undefined, error: () => assert.fail() };
      const { tail } = new InMemoryEventStore();
      const options = { tail, documents: { list }, positions: { passed }, writer: { load }, log };
      const running = runnerOf(options, endTerm.signal).run();
      await time.pass(shownAt + 2_000);
      endTerm.abort();
      await time.pass(5_000);
      await running;
      assert.ok((begunAt[0] ?? Number.POSITIVE_INFINITY) <= shownAt + 1_100, String(begunAt));
      assert.ok(begunAt.length >= 2, 'a failed run is tried again after a second');
    });
  }

  it('runs another project’s batch beside one with thousands of older batches', async () => {
    const begun: string[] = [];
    const open = Array.from({ length: 2_500 }, (_, index) => ({ id: `big-${index}`, order: index, projectId: 'big' }));
    open.push({ id: 'small', order: 2_500, projectId: 'small' });
    const list: ReadStore['list'] = async (_collection, _where, { after, limit }) => {
      const page = open.filter(({ order }) => order > (after?.order ?? -1)).slice(0, limit);
      const last = page.at(-1);
      const documents = page.map(({ id, order, projectId }) => ({ id, order, position: order, value: { projectId } }));
      return {
        documents: documents as never,
        next: last && last.order < 2_500 ? { order: last.order, id: last.id } : null,
      };
    };
    const endTerm = new AbortController();
    const options = {
      tail: new InMemoryEventStore().tail,
      positions,
      documents: { list },
      writer: {
        // Every run of a batch waits for the store until the term ends.
        load: (_: unknown, id: string) => {
          begun.push(id);
          return new Promise((_resolve, reject) => {
            endTerm.signal.addEventListener('abort', () => reject(new UnavailableError('away')));
          });
        },
      },
      log: { warn: () => undefined, error: () => assert.fail() },
    };
    const running = runnerOf(options, endTerm.signal).run();
    await eventually(() => begun.includes('small'), 'the small project’s batch');
    endTerm.abort();
    await running;
    assert.equal(begun.filter((id) => id.startsWith('big')).length, 100);
  });
});
