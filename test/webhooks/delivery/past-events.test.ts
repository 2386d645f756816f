import assert from 'node:assert/strict';
import { eventually } from '#test/support/run/eventually.ts';
import { DeliveringNode } from './delivering-node.ts';

describe('the events that an endpoint has missed', () => {
  it('are all delivered, each once, though they are more than the endpoint can take at a time', async () => {
    const node = new DeliveringNode();
    try {
      await node.begin();
      await node.createEndpoint();
      const missed: number[] = [];
      for (let number = 10_000; number < 10_400; number += 1)
        missed.push(await node.createFlow(`cflowmissed${number}`));
      const isFull = Promise.withResolvers<void>();
      node.hold = () => isFull.promise;
      await node.start(0);
      await eventually(() => node.tried.length > 0, 'the first are tried');
      // Meanwhile the queue fills up, because no try ends.
      await new Promise((resolve) => setTimeout(resolve, 200));
      assert.ok(node.tried.length < missed.length);
      isFull.resolve();
      await eventually(() => node.tried.length >= missed.length, 'all are tried');
      assert.deepEqual(
        node.tried.map(({ position }) => position).toSorted((one, other) => one - other),
        missed,
      );
    } finally {
      await node.end();
    }
  });
});
