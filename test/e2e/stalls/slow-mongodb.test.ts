import { setTimeout as sleep } from 'node:timers/promises';
import { long } from '#test/support/run/long.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { expectReactions } from './expect-reactions.ts';
import { FaultyNodes } from './faulty-nodes.ts';
import { endSlowly, withLateDocuments } from './node-faults.ts';
import { Reactions } from './reactions.ts';

const testMs = 300_000;
const linesOfBatch = 8;
/** The tests share two cores with others, and a slow answer makes each delay longer. */
const margin = 3;
/** In a term that is held, with a command of MongoDB a second. */
const heldMs = 10_000 * margin;
/** Of the first reaction after a start or a takeover. */
const firstMs = 20_000 * margin;
const afterFaultMs = 30_000 * margin;

describeOnOwnMongoDb('nodes of the service on a slow MongoDB', (mongoDb) => {
  let nodes: FaultyNodes;
  let reactions: Reactions;

  beforeEach(async function () {
    this.timeout(testMs);
    nodes = await FaultyNodes.start(mongoDb, 2);
    reactions = await Reactions.begin(nodes, linesOfBatch);
  });

  afterEach(async function () {
    this.timeout(testMs);
    mongoDb.thaw();
    await nodes.end();
  });

  for (const lateMs of [200, 400, 1_000]) {
    it(`react when each of its answers takes ${lateMs} ms ${long}`, async function () {
      this.timeout(testMs);
      const prepared = [await reactions.prepare(), await reactions.prepare(), await reactions.prepare()] as const;
      await withLateDocuments(nodes.live, lateMs, async () => {
        const batch = await reactions.beginBatch();
        await expectReactions(nodes, await reactions.remove(prepared[0]), firstMs);
        await expectReactions(nodes, await reactions.remove(prepared[1]), heldMs);
        await expectReactions(nodes, [batch], afterFaultMs);
        await (await nodes.holder()).service.kill();
        await expectReactions(nodes, await reactions.remove(prepared[2]), firstMs);
      });
    });
  }

  it(`react within 30 s after outages that end slowly ${long}`, async function () {
    this.timeout(testMs);
    for (const lateMs of [1_000, 1_200, 1_400]) {
      const preparation = await reactions.prepare();
      const [expected] = await Promise.all([reactions.act(preparation), endSlowly(nodes, lateMs, 8_000)]);
      await expectReactions(nodes, expected, afterFaultMs);
    }
  });

  it(`react on the other node after kill -9 of the one that holds the leases ${long}`, async function () {
    this.timeout(testMs);
    for (let kills = 0; kills < 2; kills += 1) {
      const preparation = await reactions.prepare();
      await sleep(500);
      const killed = nodes.replace(await nodes.holder());
      await expectReactions(nodes, await reactions.act(preparation), heldMs);
      await killed;
    }
  });
});
