import assert from 'node:assert/strict';
import { MessageChannel } from 'node:worker_threads';
import { ChangeNotifier } from '#event-store/change-notifications.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

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

  it('delays a removal of a stream for ten seconds at most for a listener that hangs', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const { port1, port2 } = new MessageChannel();
    const notifier = new ChangeNotifier(port1, () => undefined);
    let isAnswered = false;
    void notifier.sendRemoval('flow-1').then(() => {
      isAnswered = true;
    });
    await time.pass(9_000);
    assert.equal(isAnswered, false);
    await time.pass(1_000);
    assert.equal(isAnswered, true);
    notifier.close();
    port2.close();
  });
});
