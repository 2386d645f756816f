import assert from 'node:assert/strict';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { BatchRunner, type BatchRunnerOptions } from '#processes/batches/batch-runner.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';

const created = (id: string) => [{ type: 'BatchCreated', data: { id } }] as unknown as ReadonlyArray<RecordedEvent>;

describe('BatchRunner', () => {
  it('begins the batches that this node creates during a term, and no others of this node', async () => {
    const begun: string[] = [];
    let endTerm = new AbortController();
    const runner = new BatchRunner({
      documents: { list: async () => ({ documents: [], next: null }) },
      writer: { load: () => Promise.reject(new UnavailableError('away')) },
      log: { warn: ({ batch }: { batch: string }) => void begun.push(batch), error: () => assert.fail() },
    } as unknown as BatchRunnerOptions);
    const term = () => runner.run({ leaseToken: 1, signal: endTerm.signal, isHeld: () => true });

    runner.see(created('before'));
    let running = term();
    runner.see(created('first'));
    await eventually(() => begun.includes('first'), 'the first batch');
    runner.see(created('second'));
    await eventually(() => begun.includes('second'), 'the second batch');
    endTerm.abort();
    await running;
    runner.see(created('between'));
    endTerm = new AbortController();
    running = term();
    runner.see(created('third'));
    await eventually(() => begun.includes('third'), 'the third batch');
    endTerm.abort();
    await running;
    assert.deepEqual(begun, ['first', 'second', 'third']);
  });
});
