import assert from 'node:assert/strict';
import { newDeliveryState } from '#webhooks/state/delivery-state.ts';
import { endTime, type Reception, VirtualReceiver } from './virtual-receiver.ts';

const second = 1_000;
const hour = 60 * 60 * second;
const day = 24 * hour;

describe('EndpointQueue whose receiver requests a wait', () => {
  afterEach(endTime);

  /** A receiver that refuses the message at position 1 with this answer, and accepts the others. */
  function refusingFirst(receiverRequest: Reception['receiverRequest']): VirtualReceiver {
    const receiver = new VirtualReceiver();
    receiver.receive = ({ position }) => ({
      ms: 10,
      kind: position === 1 ? 'failed' : 'delivered',
      ...(receiverRequest && { receiverRequest }),
    });
    return receiver;
  }

  const timesOf = (receiver: VirtualReceiver, position: number) =>
    receiver.tries.filter((seen) => seen.position === position).map(({ at }) => at);

  it('retries the message at the requested time, and sends others meanwhile', async () => {
    const receiver = refusingFirst({ retryAfterMs: 90 * second });
    receiver.follow(1, 2);
    await receiver.time.pass(second);
    receiver.follow(3);
    await receiver.time.pass(91 * second);
    assert.deepEqual(timesOf(receiver, 1), [0, 90 * second + 10]);
    assert.deepEqual(receiver.begun, [1, 2, 3, 1]);
  });

  it('keeps its own longer pause when the receiver asks for a shorter one', async () => {
    const receiver = refusingFirst({ retryAfterMs: second });
    receiver.follow(1);
    await receiver.time.pass(6 * second);
    assert.deepEqual(timesOf(receiver, 1), [0, 5 * second + 10]);
  });

  it('sends nothing before the time that a receiver requests with 429 or 503', async () => {
    const receiver = refusingFirst({ retryAfterMs: 90 * second, isForAll: true });
    receiver.follow(1);
    await receiver.time.pass(second);
    receiver.follow(2, 3);
    await receiver.time.pass(88 * second);
    assert.deepEqual(receiver.begun, [1]);
    assert.equal(receiver.queue.position, 1);
    await receiver.time.pass(2 * second);
    assert.deepEqual(receiver.begun.toSorted(), [1, 1, 2, 3]);
  });

  it('delays other messages for at most an hour', async () => {
    const receiver = refusingFirst({ retryAfterMs: day, isForAll: true });
    receiver.follow(1);
    await receiver.time.pass(second);
    receiver.follow(2);
    await receiver.time.pass(hour);
    assert.deepEqual(receiver.begun, [1, 2]);
    await receiver.time.pass(day);
    assert.deepEqual(timesOf(receiver, 1), [0, day + 10]);
  });

  it('delays other messages even when a running message is accepted afterwards', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = ({ position }) =>
      position === 1
        ? { ms: 10, kind: 'failed', receiverRequest: { retryAfterMs: 90 * second, isForAll: true } }
        : { ms: 50, kind: 'delivered' };
    receiver.follow(1, 2);
    await receiver.time.pass(second);
    assert.deepEqual(receiver.outcomes, ['1.1 failed', '2.1 delivered']);
    receiver.follow(3);
    await receiver.time.pass(80 * second);
    assert.deepEqual(receiver.begun, [1, 2]);
  });

  it('gives up a message after three days, whatever wait the receiver requests', async () => {
    const receiver = refusingFirst({ retryAfterMs: day });
    receiver.follow(1);
    // The others succeed, so that the endpoint does not count as failing.
    for (let hours = 0; hours < 100; hours += 1) {
      receiver.follow(receiver.followed + 1);
      await receiver.time.pass(hour);
    }
    assert.deepEqual(timesOf(receiver, 1), [0, day + 10, 2 * day + 20, 3 * day + 10]);
    assert.equal(
      receiver.outcomes.findLast((outcome) => outcome.startsWith('1.')),
      '1.4 given-up',
    );
  });

  it('is disabled once by a receiver that is gone, and continues with the open messages when it is enabled', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = () => ({ ms: 10, kind: 'failed', receiverRequest: { isGone: true } });
    receiver.follow(1, 2, 3);
    await receiver.time.pass(day);
    assert.deepEqual(receiver.disabled, ['gone']);
    assert.deepEqual(receiver.begun, [1, 2, 3]);
    receiver.receive = () => ({ ms: 10, kind: 'delivered' });
    receiver.queue.enable();
    await receiver.time.pass(second);
    assert.deepEqual(receiver.begun.slice(3), [1, 2, 3]);
    receiver.queue.passTo(3);
    assert.deepEqual(receiver.queue.state, newDeliveryState(3));
  });

  it('sends immediately after it is enabled, whatever wait the receiver requested before', async () => {
    const receiver = refusingFirst({ retryAfterMs: day, isForAll: true });
    receiver.follow(1);
    await receiver.time.pass(second);
    receiver.queue.disable();
    receiver.queue.enable();
    assert.deepEqual(receiver.begun, [1, 1]);
  });

  it('is disabled by a test that finds the receiver gone, but not twice', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = () => ({ ms: 10, kind: 'failed', receiverRequest: { isGone: true } });
    const message = { position: 9, stream: 'webhookEndpoint-cone', revision: 1, type: 'WebhookTestRequested' };
    receiver.queue.test(message);
    await receiver.time.pass(second);
    receiver.queue.test({ ...message, position: 10 });
    await receiver.time.pass(second);
    assert.deepEqual(receiver.outcomes, ['9.1 given-up', '10.1 given-up']);
    assert.deepEqual(receiver.disabled, ['gone']);
  });

  it('sends a waiting message when a dead endpoint may be tried, although every retry is due later', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = () => ({ ms: 1, kind: 'failed', receiverRequest: { retryAfterMs: day } });
    for (let position = 1; position <= 100; position += 1) {
      receiver.follow(position);
      await receiver.time.pass(1);
    }
    receiver.follow(101, 102);
    await receiver.time.pass(hour);
    assert.deepEqual(receiver.begun.slice(-2), [101, 102]);
  });
});
