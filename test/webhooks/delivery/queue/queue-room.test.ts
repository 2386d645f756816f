import assert from 'node:assert/strict';
import { EndpointQueue, type TryResult } from '#webhooks/delivery/queue/endpoint-queue.ts';
import { newDeliveryState } from '#webhooks/state/delivery-state.ts';
import { beginTime, endTime, messageAt } from './virtual-receiver.ts';

describe('the room of an endpoint’s queue', () => {
  afterEach(endTime);

  it('is reported when the queue is half empty again, and not while it is full', async () => {
    const time = beginTime();
    const ends: (() => void)[] = [];
    const ignore = () => undefined;
    let reports = 0;
    const queue = new EndpointQueue<TryResult>({
      state: newDeliveryState(0),
      isEnabled: true,
      followed: () => 0,
      deliver: () => new Promise((resolve) => ends.push(() => resolve({ kind: 'delivered', receiverRequest: null }))),
      onTried: ignore,
      onChange: ignore,
      onRoom: () => {
        reports += 1;
      },
      onDisabled: ignore,
    });
    queue.start();
    let taken = 0;
    while (queue.offer(messageAt(taken + 1))) taken += 1;
    assert.equal(queue.hasRoom, false);
    const finish = async () => {
      ends.shift()?.();
      await time.pass(1);
    };
    reports = 0;
    for (let ended = 0; ended < taken / 4; ended += 1) await finish();
    assert.equal(reports, 0, 'three quarters still wait');
    for (let ended = 0; ended < taken / 2; ended += 1) await finish();
    assert.ok(reports > 0 && queue.hasRoom, 'there is room');
    queue.stop();
  });
});
