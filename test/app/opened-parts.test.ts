import assert from 'node:assert/strict';
import { OpenedParts } from '#app/opened-parts.ts';
import { runOnOneNode } from '#app/parts/run-on-one-node.ts';
import { aborted, delay } from '#shared/async/timed-waits.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const never = () => new Promise<never>(() => undefined);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

describe('OpenedParts', () => {
  let time: SimulatedTime;
  let opened: OpenedParts;
  let seen: string[];

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    opened = new OpenedParts();
    seen = [];
  });
  afterEach(() => time[Symbol.dispose]());

  const note = (what: string) => void seen.push(`${what} at ${time.now}`);
  const close = async (limitMs?: number) => {
    const left: string[] = ['not closed'];
    void opened.close(limitMs).then((names) => {
      left.splice(0, 1, ...names);
      note('closed');
    });
    await time.pass(60_000);
    return left;
  };
  /** Adds work that takes some time to end. */
  const addWork = (name: string, milliseconds: number) =>
    opened.addWork(name, async () => {
      note(`${name} stops`);
      await delay(milliseconds);
      note(`${name} has ended`);
    });

  it('stops all work at the same time, and then closes the rest in the reverse order', async () => {
    opened.defer(() => note('first closed'));
    addWork('slow', 2_000);
    opened.defer(() => note('second closed'));
    addWork('quick', 1_000);
    assert.deepEqual(await close(), []);
    assert.deepEqual(seen, [
      'slow stops at 0',
      'quick stops at 0',
      'quick has ended at 1000',
      'slow has ended at 2000',
      'second closed at 2000',
      'first closed at 2000',
      'closed at 2000',
    ]);
  });

  it('leaves work that does not end, names it, and closes the rest', async () => {
    opened.defer(() => note('store closed'));
    opened.addWork('digests', never);
    opened.addWork('batches', async () => undefined);
    assert.deepEqual(await close(), ['digests']);
    assert.deepEqual(seen, ['store closed at 4000', 'closed at 4000']);
  });

  it('waits 5 s at most in all', async () => {
    opened.defer(never);
    opened.addWork('digests', never);
    assert.deepEqual(await close(), ['digests', 'stores']);
    assert.deepEqual(seen, ['closed at 5000']);
  });

  it('closes every part above and below those that hang, in their order', async () => {
    opened.defer(() => note('lock released'));
    opened.defer(async () => {
      await delay(100);
      note('event store closed');
    });
    opened.defer(never);
    opened.defer(() => note('metering closed'));
    opened.defer(never);
    opened.addWork('digests', never);
    assert.deepEqual(await close(), ['digests', 'stores']);
    assert.deepEqual(seen, [
      'metering closed at 4500',
      'event store closed at 4850',
      'lock released at 4850',
      'closed at 5000',
    ]);
  });

  it('stores what is in memory while the work stops, and again what the work leaves there', async () => {
    const buffer = { flush: async () => note('stored'), close: async () => note('stored and closed') };
    opened.addBuffer('usage', buffer);
    addWork('batches', 2_000);
    assert.deepEqual(await close(), []);
    assert.deepEqual(seen, [
      'stored at 0',
      'batches stops at 0',
      'batches has ended at 2000',
      'stored and closed at 2000',
      'closed at 2000',
    ]);
  });

  it('stops and closes the rest if work or a part throws', async () => {
    opened.defer(() => note('store closed'));
    opened.defer(() => {
      throw new Error('It cannot be closed.');
    });
    opened.addWork('broken', () => {
      throw new Error('It cannot be stopped.');
    });
    addWork('digests', 1_000);
    const closing = assert.rejects(opened.close(), /It cannot be closed/);
    await time.pass(10_000);
    await closing;
    assert.deepEqual(seen, ['digests stops at 0', 'digests has ended at 1000', 'store closed at 1000']);
  });

  it('waits less if it has less time, and never more', async () => {
    opened.addWork('digests', never);
    assert.deepEqual(await close(2_000), ['digests']);
    assert.deepEqual(seen, ['closed at 1000']);
    opened = new OpenedParts();
    opened.defer(never);
    assert.deepEqual(await close(60_000), ['stores']);
    assert.equal(seen.at(-1), 'closed at 65000');
  });

  it('ends the work of this node, and leaves what hangs', async () => {
    const runtime = { leases: null, node: 'one', log, opened };
    const failureMessage = 'It has failed';
    runOnOneNode(runtime, { name: 'ending', failureMessage, work: ({ signal }) => aborted(signal) });
    runOnOneNode(runtime, { name: 'hanging', failureMessage, work: never });
    assert.deepEqual(await close(), ['hanging']);
    assert.deepEqual(seen, ['closed at 4000']);
  });

  it('does the same when it is disposed', async () => {
    opened.addWork('work', async () => note('stopped'));
    {
      await using _ = opened;
    }
    assert.deepEqual(seen, ['stopped at 0']);
  });
});
