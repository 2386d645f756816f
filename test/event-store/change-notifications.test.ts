import assert from 'node:assert/strict';
import { MessageChannel } from 'node:worker_threads';
import { ChangeNotifier } from '#event-store/change-notifications.ts';

describe('ChangeNotifier', () => {
  it('delays no removal of a stream for a listener that has ended, before and after it knows that', async () => {
    const { port1, port2 } = new MessageChannel();
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const notifier = new ChangeNotifier(port1, resolve);
    const before = notifier.sendRemoval('flow-1');
    port2.close();
    await Promise.all([before, closed]);
    const after = await Promise.race([
      notifier.sendRemoval('flow-2').then(() => 'answered'),
      new Promise(setImmediate),
    ]);
    assert.equal(after, 'answered');
    notifier.close();
  });
});
