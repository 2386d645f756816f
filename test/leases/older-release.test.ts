import assert from 'node:assert/strict';
import { NodeLeases } from '#leases/node-leases.ts';
import { OlderRelease } from '#leases/older-release.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { type CallOutcome, VirtualNode, VirtualTime } from './virtual-time.ts';

const prompt: CallOutcome = { requestDelayMs: 1, responseDelayMs: 1, lost: null };
const lost: CallOutcome = { ...prompt, lost: 'request' };

describe('OlderRelease', () => {
  let time: VirtualTime;
  let store: InMemoryLeaseStore;
  let outcome: CallOutcome;
  let lines: string[];
  let older: OlderRelease;
  let stopping: AbortController;
  let waiting: Promise<void>;
  let endedAt: number | null;

  beforeEach(() => {
    time = new VirtualTime();
    store = new InMemoryLeaseStore();
    outcome = prompt;
    lines = [];
    const machine = new VirtualNode({ time, leases: store, rate: 1, random: () => 1, outcome: () => outcome });
    const leases = new NodeLeases({ store: machine.leases, clock: machine });
    const log = {
      info: (_: object, message: string) => lines.push(message),
      warn: ({ nodes }: { nodes?: unknown }, message: string) => lines.push(`${message} ${JSON.stringify(nodes)}`),
      error: (_: object, message: string) => assert.fail(message),
    };
    older = new OlderRelease({ leases, isOlder: (name) => name.startsWith('process:'), log, clock: machine });
    stopping = new AbortController();
    endedAt = null;
  });
  afterEach(async () => {
    stopping.abort();
    outcome = prompt;
    await time.pass(5_000);
    await waiting;
  });

  const wait = () => {
    waiting = older.wait(stopping.signal).then(() => {
      endedAt = time.now;
    });
  };
  /** Lets a node of the release before renew its terms every 400 ms for some time. */
  const renewFor = async (milliseconds: number, ...names: ReadonlyArray<string>) => {
    for (let passed = 0; passed < milliseconds; passed += 400) {
      await store.renewAll(names.map((name) => ({ name, token: 1 })));
      await time.pass(400);
    }
  };

  it('does not wait where the release before has never run', async () => {
    await store.begin('projections', 1, 'a node of any release');
    wait();
    await time.pass(50);
    assert.deepEqual([endedAt !== null, lines], [true, []]);
  });

  it('waits for a node that renews its terms, names it, and ends when the node has released them', async () => {
    for (const name of ['process:one', 'process:two']) await store.begin(name, 1, 'old-node');
    wait();
    await renewFor(20_000, 'process:one', 'process:two');
    assert.deepEqual([endedAt, older.nodes], [null, ['old-node']]);
    await store.release('process:one', 1);
    await renewFor(2_000, 'process:two');
    assert.equal(endedAt, null);
    await store.release('process:two', 1);
    await time.pass(1_500);
    assert.ok(endedAt !== null);
    assert.deepEqual(older.nodes, []);
    assert.deepEqual(lines, [
      'Nodes of the release before still run: stop them, this node waits for their end ["old-node"]',
      'No node of the release before holds a lease any more',
    ]);
  });

  it('waits for a node that takes over from one that stops', async () => {
    await store.begin('process:one', 1, 'old-node');
    wait();
    await renewFor(2_000, 'process:one');
    await store.release('process:one', 1);
    await time.pass(700);
    await store.begin('process:one', 2, 'second-old-node');
    await time.pass(1_400);
    assert.equal(endedAt, null);
    await store.release('process:one', 2);
    await time.pass(1_500);
    assert.ok(endedAt !== null);
  });

  it('waits for the same nodes in calls at the same time, and in those that remain when one is aborted', async () => {
    await store.begin('process:one', 1, 'old-node');
    wait();
    await renewFor(2_000, 'process:one');
    let hasOtherEnded = false;
    const other = older.wait(new AbortController().signal).then(() => {
      hasOtherEnded = true;
    });
    await renewFor(2_000, 'process:one');
    assert.deepEqual([older.nodes, lines.length], [['old-node'], 1]);
    stopping.abort();
    await renewFor(2_000, 'process:one');
    assert.deepEqual([endedAt === null, hasOtherEnded, older.nodes], [false, false, ['old-node']]);
    await store.release('process:one', 1);
    await time.pass(1_500);
    await other;
  });

  it('names every node that it waits for', async () => {
    await store.begin('process:one', 1, 'node b');
    await store.begin('process:two', 1, 'node a');
    wait();
    await renewFor(5_000, 'process:one', 'process:two');
    assert.deepEqual(older.nodes, ['node a', 'node b']);
  });

  it('counts a term of a node that was killed as held until it expires, and only in the first wait', async () => {
    await store.begin('process:one', 1, 'killed');
    wait();
    await time.pass(1_450);
    assert.equal(endedAt, null);
    await time.pass(1_550);
    assert.ok(endedAt !== null);
    assert.deepEqual([lines, store.newest('process:one')?.released], [[], true]);
    const before = time.now;
    wait();
    await time.pass(300);
    assert.ok((endedAt ?? 0) > before);
  });

  it('waits for a store that is down', async () => {
    outcome = lost;
    wait();
    await time.pass(10_000);
    assert.equal(endedAt, null);
    outcome = prompt;
    await time.pass(2_500);
    assert.ok(endedAt !== null);
  });

  it('ends at once when its signal aborts', async () => {
    await store.begin('process:one', 1, 'old-node');
    wait();
    await renewFor(2_000, 'process:one');
    stopping.abort();
    await time.pass(0);
    assert.ok(endedAt !== null);
    assert.deepEqual(older.nodes, []);
  });
});
