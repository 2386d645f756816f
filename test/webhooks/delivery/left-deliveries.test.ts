import assert from 'node:assert/strict';
import { ids } from '#test/support/events/tenants.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';
import { DeliveringNode } from './delivering-node.ts';

const never = () => new Promise<never>(() => undefined);

/** Records whose writes can be held. */
class HeldRecords extends InMemoryRecordStore {
  hold: () => Promise<void> = async () => undefined;

  override async put(...given: Parameters<InMemoryRecordStore['put']>): Promise<void> {
    await this.hold();
    await super.put(...given);
  }
}

describe('The deliveries of a node that loses its term', () => {
  let time: SimulatedTime;
  let records: HeldRecords;
  let node: DeliveringNode;
  beforeEach(async () => {
    time = new SimulatedTime(new Random(1)).install();
    records = new HeldRecords();
    node = new DeliveringNode(records);
    const from = await node.begin();
    await node.createEndpoint();
    await node.start(from);
    await time.pass(2_000);
  });
  afterEach(() => time[Symbol.dispose]());

  async function endWithinSeconds(): Promise<void> {
    let hasEnded = false;
    void node.end().then(() => {
      hasEnded = true;
    });
    assert.ok(await time.passUntil(() => hasEnded, 3_000), 'it does not end');
  }

  for (const [what, hang] of [
    ['a request', () => (node.hold = never)],
    ['a put of a record', () => (records.hold = never)],
    ['the removal of old tries', () => (node.removeOldTries = never)],
    ['the read model', () => (node.waitForPosition = never)],
  ] as const) {
    it(`end within three seconds although ${what} never answers, and the next term sends what was not recorded`, async () => {
      const { hold, removeOldTries, waitForPosition } = node;
      hang();
      const position = await node.createFlow();
      await time.pass(610_000);
      await endWithinSeconds();
      assert.equal(node.runner.triesOf(ids.webhookEndpoint), null);
      assert.equal(node.runner.figures(), null);
      Object.assign(node, { hold, removeOldTries, waitForPosition });
      records.hold = async () => undefined;
      const before = node.tried.length;
      node.startAgain();
      const next = await node.createFlow('cflownext0000001');
      await time.pass(5_000);
      const repeated = node.tried.slice(before).map((message) => message.position);
      assert.ok(repeated.includes(next));
      assert.ok(node.tried.some((message) => message.position === position));
      assert.ok((await node.state())?.open.length === 0);
      await endWithinSeconds();
    });
  }

  it('drop the result of a try that comes after the term, and the next term tries the same message again', async () => {
    const late = Promise.withResolvers<void>();
    node.hold = () => late.promise;
    const position = await node.createFlow();
    await time.pass(1_000);
    await endWithinSeconds();
    node.hold = async () => undefined;
    late.resolve();
    await time.pass(1_000);
    assert.deepEqual(node.counted, []);
    node.startAgain();
    await time.pass(10_000);
    assert.deepEqual(
      [node.tried.map((message) => message.position), node.counted],
      [[position, position], ['delivered']],
    );
    await endWithinSeconds();
  });
});
