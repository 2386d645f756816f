import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchRunner, type BatchRunnerOptions } from '#processes/batches/batch-runner.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { currentOwner } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const created = (id: string) => ({ stream: `batch-${id}`, type: 'BatchCreated', data: { id, projectId: 'one' } });

describe('BatchRunner', () => {
  it('begins the batches that are created during a term at once, and no others', async () => {
    const begun: string[] = [];
    const owners: string[] = [];
    let endTerm = new AbortController();
    const log = new InMemoryEventStore();
    const runner = new BatchRunner({
      tail: log.tail,
      documents: { list: async () => ({ documents: [], next: null }) },
      writer: {
        load: () => {
          owners.push(currentOwner());
          return Promise.reject(new UnavailableError('away'));
        },
      },
      log: { warn: ({ batch }: { batch: string }) => void begun.push(batch), error: () => assert.fail() },
    } as unknown as BatchRunnerOptions);
    const term = () => runner.run({ leaseToken: 1, signal: endTerm.signal, isHeld: () => true });

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
    let looks = 0;
    const endTerm = new AbortController();
    const list = async () => {
      looks += 1;
      return { documents: [], next: null };
    };
    const tail = new InMemoryEventStore().tail;
    const runner = new BatchRunner({ tail, documents: { list } } as unknown as BatchRunnerOptions);
    const running = runner.run({ leaseToken: 1, signal: endTerm.signal, isHeld: () => true });
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    endTerm.abort();
    await running;
    assert.equal(looks, 2);
  });

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
    const running = new BatchRunner({
      tail: new InMemoryEventStore().tail,
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
    } as unknown as BatchRunnerOptions).run({ leaseToken: 1, signal: endTerm.signal, isHeld: () => true });
    await eventually(() => begun.includes('small'), 'the small project’s batch');
    endTerm.abort();
    await running;
    assert.equal(begun.filter((id) => id.startsWith('big')).length, 100);
  });
});
