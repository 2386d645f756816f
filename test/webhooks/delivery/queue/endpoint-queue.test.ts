import assert from 'node:assert/strict';
import { retryForMs } from '#webhooks/delivery/queue/endpoint-health.ts';
import { maxAtOnce, maxOpen } from '#webhooks/delivery/queue/endpoint-queue.ts';
import { newDeliveryState } from '#webhooks/state/delivery-state.ts';
import { endTime, messageAt, VirtualReceiver } from './virtual-receiver.ts';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const hour = 60 * 60 * 1000;
const day = 24 * hour;

describe('EndpointQueue', () => {
  afterEach(endTime);

  it('sends messages in the order of the log, eight at a time', async () => {
    const receiver = new VirtualReceiver();
    receiver.follow(...range(1, 30));
    assert.deepEqual(receiver.begun, range(1, maxAtOnce));
    await receiver.time.pass(1_000);
    assert.deepEqual(receiver.begun, range(1, 30));
    assert.equal(receiver.mostAtOnce, 8);
    assert.deepEqual(receiver.queue.state, newDeliveryState(30));
  });

  it('retries a failed message within 30 s, and delays no other message', async () => {
    const receiver = new VirtualReceiver();
    let refuses = true;
    receiver.receive = ({ position }) => ({ ms: 10, kind: position === 3 && refuses ? 'failed' : 'delivered' });
    receiver.follow(...range(1, 20));
    await receiver.time.pass(1_000);
    assert.deepEqual(receiver.begun, range(1, 20));
    assert.deepEqual(
      receiver.queue.state.open.map(({ position }) => position),
      [3],
    );
    assert.equal(receiver.queue.position, 20);
    refuses = false;
    await receiver.time.pass(30_000);
    assert.deepEqual(receiver.begun, [...range(1, 20), 3]);
    assert.deepEqual(receiver.queue.state, newDeliveryState(20));
    assert.deepEqual(receiver.outcomes.slice(-1), ['3.2 delivered']);
  });

  it('reserves half of the concurrent tries for new messages while retries are due', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = ({ position }) => ({ ms: 100, kind: position <= 40 ? 'failed' : 'delivered' });
    receiver.follow(...range(1, 40));
    await receiver.time.pass(600);
    receiver.tries.length = 0;
    await receiver.time.pass(6_000);
    receiver.follow(...range(41, 60));
    await receiver.time.pass(600);
    assert.ok(range(41, 60).every((position) => receiver.begun.includes(position)));
  });

  it('waits at its position while 1,000 messages are open, and continues when there is room', async () => {
    const receiver = new VirtualReceiver();
    let isRefused = (position: number) => position % 2 === 0;
    receiver.receive = ({ position }) => ({ ms: 1, kind: isRefused(position) ? 'failed' : 'delivered' });
    let next = 1;
    // Every second message is refused, so that the endpoint does not count as dead.
    while (receiver.queue.state.open.length < maxOpen && next < 10_000) {
      if (receiver.follow(next)[0] === true) next += 1;
      await receiver.time.pass(1);
    }
    assert.equal(receiver.queue.state.open.length, maxOpen);
    const taken = range(next, next + 300).filter((position) => receiver.follow(position)[0]);
    await receiver.time.pass(10);
    assert.ok(taken.length <= 100, 'what is not begun is bounded, too');
    assert.equal(receiver.queue.isLive, false);
    const waitingAt = receiver.queue.position;
    assert.ok(waitingAt < next);
    assert.equal(receiver.queue.state.open.length, maxOpen);
    isRefused = () => false;
    await receiver.time.pass(day);
    assert.equal(receiver.queue.state.open.length, 0);
    assert.ok(receiver.queue.hasRoom);
    assert.ok(receiver.queue.position >= (taken.at(-1) ?? 0));
  });

  it('is disabled after three days with only failures, and continues with the open messages when it is enabled', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = () => ({ ms: 10, kind: 'failed' });
    receiver.follow(1, 2);
    await receiver.time.pass(retryForMs - hour);
    assert.deepEqual(receiver.disabled, []);
    await receiver.time.pass(4 * hour);
    assert.deepEqual(receiver.disabled, ['failing']);
    const tries = receiver.tries.length;
    assert.ok(tries > 20);
    receiver.follow(3);
    await receiver.time.pass(day);
    assert.equal(receiver.tries.length, tries);
    assert.equal(receiver.queue.position, 2);
    receiver.receive = () => ({ ms: 10, kind: 'delivered' });
    receiver.queue.enable();
    assert.equal(receiver.queue.isLive, false);
    assert.equal(receiver.queue.offer(messageAt(3)), true);
    receiver.queue.passTo(3);
    await receiver.time.pass(1_000);
    assert.deepEqual(receiver.begun.slice(tries).toSorted(), [1, 2, 3]);
    assert.deepEqual(receiver.queue.state, newDeliveryState(3));
  });

  it('gives up a message after three days while others are delivered', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = ({ position }) => ({ ms: 10, kind: position === 1 ? 'failed' : 'delivered' });
    receiver.follow(1);
    for (let hours = 0; hours < 80; hours += 1) {
      receiver.follow(receiver.followed + 1);
      await receiver.time.pass(hour);
    }
    assert.deepEqual(receiver.disabled, []);
    assert.deepEqual(receiver.queue.state.open, []);
    assert.match(receiver.outcomes.filter((outcome) => outcome.startsWith('1.')).at(-1) ?? '', /given-up$/);
    const lastTry = receiver.tries.findLast(({ position }) => position === 1);
    assert.ok((lastTry?.at ?? 0) >= retryForMs && (lastTry?.at ?? 0) <= retryForMs + 3 * hour);
  });

  it('tries a dead endpoint once a minute, and delivers immediately when it answers again', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = () => ({ ms: 1, kind: 'failed' });
    for (let position = 1; position <= 100; position += 1) {
      receiver.follow(position);
      await receiver.time.pass(1);
    }
    await receiver.time.pass(hour);
    receiver.tries.length = 0;
    receiver.mostAtOnce = 0;
    await receiver.time.pass(hour);
    assert.ok(receiver.tries.length >= 58 && receiver.tries.length <= 61, `${receiver.tries.length} tries in an hour`);
    assert.equal(receiver.mostAtOnce, 1);
    receiver.receive = () => ({ ms: 1, kind: 'delivered' });
    await receiver.time.pass(61_000);
    assert.deepEqual(receiver.queue.state.open, []);
  });

  it('does not count a message that could not be built as a try', async () => {
    const receiver = new VirtualReceiver();
    let isMade = false;
    receiver.receive = () => ({ ms: 1, kind: isMade ? 'delivered' : 'postponed' });
    receiver.follow(1);
    await receiver.time.pass(12_000);
    assert.equal(receiver.tries.length, 3);
    assert.deepEqual(receiver.outcomes, []);
    assert.equal(receiver.queue.state.failures, 0);
    isMade = true;
    await receiver.time.pass(5_000);
    assert.deepEqual(receiver.outcomes, ['1.1 delivered']);
  });

  it('sends a test immediately and only once, even while it is disabled or waits', async () => {
    const receiver = new VirtualReceiver(undefined, newDeliveryState(4), false);
    receiver.receive = () => ({ ms: 10, kind: 'failed' });
    receiver.queue.test(messageAt(9));
    await receiver.time.pass(day);
    assert.deepEqual(receiver.begun, [9]);
    assert.deepEqual(receiver.outcomes, ['9.1 given-up']);
    assert.deepEqual(receiver.queue.state, newDeliveryState(4));
  });

  it('counts tests in its eight tries, and sends a waiting one before other messages', async () => {
    const receiver = new VirtualReceiver();
    receiver.receive = () => ({ ms: 100, kind: 'delivered' });
    receiver.follow(...range(1, 20));
    receiver.queue.test(messageAt(50));
    assert.deepEqual(receiver.begun, range(1, 8));
    assert.equal(receiver.queue.running, 9);
    await receiver.time.pass(100);
    assert.deepEqual(receiver.begun.slice(8), [50, ...range(9, 15)]);
    await receiver.time.pass(1_000);
    assert.equal(receiver.mostAtOnce, maxAtOnce);
    assert.equal(receiver.queue.running, 0);
  });

  it('gives the changes of its open messages once, and again if they could not be stored', async () => {
    const receiver = new VirtualReceiver();
    const positions = () => {
      const changes = receiver.queue.takeChanges();
      const { position, open, closed } = changes;
      return { changes, seen: [position, open.map((message) => message.position), closed] };
    };
    receiver.receive = ({ position }) => ({ ms: 10, kind: position === 2 ? 'failed' : 'delivered' });
    receiver.follow(1, 2, 3);
    const begun = positions();
    assert.deepEqual(begun.seen, [3, [1, 2, 3], []]);
    assert.deepEqual(positions().seen, [3, [], []]);
    await receiver.time.pass(20);
    const ended = positions();
    assert.deepEqual(ended.seen, [3, [2], [1, 3]]);
    receiver.queue.storeAgain(ended.changes);
    assert.deepEqual(positions().seen, [3, [2], [1, 3]]);
    assert.deepEqual(positions().seen, [3, [], []]);
    receiver.follow(4);
    await receiver.time.pass(20);
    assert.deepEqual(positions().seen, [4, [], []], 'what was never stored need not be removed');
  });

  it('returns to a replay’s position once, even when it meets the request again on the way', async () => {
    const receiver = new VirtualReceiver();
    receiver.follow(...range(1, 9));
    await receiver.time.pass(100);
    assert.equal(receiver.queue.replay(4, 10), true);
    assert.deepEqual([receiver.queue.isLive, receiver.queue.position], [false, 4]);
    for (const position of range(5, 9)) receiver.queue.offer(messageAt(position));
    assert.equal(receiver.queue.replay(4, 10), false);
    receiver.queue.passTo(9);
    await receiver.time.pass(100);
    assert.deepEqual(receiver.begun, [...range(1, 9), ...range(5, 9)]);
    assert.equal(receiver.queue.state.replayedAt, 10);
  });

  it('skips nothing for a replay after a position that it has not reached', async () => {
    const receiver = new VirtualReceiver();
    receiver.follow(1, 2);
    assert.equal(receiver.queue.replay(1_000, 3), false);
    receiver.follow(4);
    await receiver.time.pass(100);
    assert.deepEqual(receiver.begun, [1, 2, 4]);
  });

  it('loses nothing when it is taken over at any moment', async () => {
    for (let moment = 0; moment < 60; moment += 1) {
      const before = new VirtualReceiver();
      const received = new Set<number>();
      before.receive = ({ position, attempts }) => {
        const kind = position % 3 === 0 && attempts === 0 ? 'failed' : 'delivered';
        if (kind === 'delivered') received.add(position);
        return { ms: 1 + (position % 5) * 7, kind };
      };
      before.follow(...range(1, 40));
      await before.time.pass(moment);
      const state = JSON.parse(JSON.stringify(before.queue.state));
      before.queue.stop();
      // Tries that were running when the node ended may not have been received.
      for (const { position } of state.open) received.delete(position);
      const after = new VirtualReceiver(undefined, state, true, 40);
      for (const position of range(1, 40)) {
        while (!after.queue.offer(messageAt(position))) await after.time.pass(1);
      }
      after.queue.passTo(40);
      await after.time.pass(10_000);
      for (const position of after.begun) received.add(position);
      assert.deepEqual(
        [...received].toSorted((one, other) => one - other),
        range(1, 40),
        `at ${moment} ms`,
      );
      assert.deepEqual(after.queue.state, newDeliveryState(40));
    }
  });

  it('delays no other endpoint while an endpoint is dead', async () => {
    const dead = new VirtualReceiver();
    const living = new VirtualReceiver(dead.time);
    dead.receive = () => ({ ms: 15_000, kind: 'failed' });
    for (let position = 1; position <= 500; position += 1) {
      dead.follow(position);
      living.follow(position);
      await dead.time.pass(10);
      assert.equal(living.queue.state.open.length <= 1, true);
    }
    assert.deepEqual(living.begun, range(1, 500));
  });
});
