import assert from 'node:assert/strict';
import { onOneNode } from '#leases/on-one-node.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('onOneNode without leases', () => {
  it('logs a failure of the work, and ends when the signal aborts', async () => {
    const stopping = new AbortController();
    const logged: string[] = [];
    const signals: AbortSignal[] = [];
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (_: object, message: string) => void logged.push(message),
    };
    const running = onOneNode({
      ...{ name: 'work', node: 'one', leases: null, signal: stopping.signal, log, failureMessage: 'It has failed' },
      work: async ({ signal }) => {
        signals.push(signal);
        throw new Error('full disk');
      },
    });
    await eventually(() => logged.length === 1, 'the log line');
    assert.equal(signals[0]?.aborted, true, 'what the work has left behind ends');
    stopping.abort();
    await running;
    assert.deepEqual(logged, ['It has failed']);
  });
});
