import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#test/worlds/random.ts';
import type { FaultyNode, FaultyNodes } from './faulty-nodes.ts';

/** A fault that has ended when it resolves. */
export type NodeFault = (nodes: FaultyNodes, random: Random) => Promise<void>;

/** A store comes back after 3 s, and is late for some seconds. */
export async function endSlowly(nodes: FaultyNodes, lateMs: number, lateForMs: number): Promise<void> {
  nodes.mongoDb.freeze();
  await sleep(3_000);
  await withLateDocuments(nodes.live, lateMs, async () => {
    nodes.mongoDb.thaw();
    await sleep(lateForMs);
  });
}

/** Lets MongoDB's answers to some nodes come late during work. */
export async function withLateDocuments(
  of: ReadonlyArray<FaultyNode>,
  lateMs: number,
  work: () => Promise<unknown>,
): Promise<void> {
  for (const { documents } of of) documents.delay(lateMs);
  try {
    await work();
  } finally {
    for (const { documents } of of) documents.delay(0);
  }
}

/** Lets a node reach no MongoDB during work. */
export async function withoutDocuments({ documents }: FaultyNode, work: () => Promise<unknown>): Promise<void> {
  documents.cutAfter(0);
  try {
    await work();
  } finally {
    documents.cutAfter(Number.POSITIVE_INFINITY);
  }
}

const between = (random: Random, least: number, most: number) => least + random.below(most - least + 1);
const pause = (random: Random) => sleep(between(random, 1_000, 3_000));

/** What happens to nodes and their stores, for some seconds each. */
export const nodeFaults: Readonly<Record<string, NodeFault>> = {
  'MongoDB is frozen': async ({ mongoDb }, random) => {
    mongoDb.freeze();
    await pause(random);
    mongoDb.thaw();
  },
  'MongoDB is frozen, and then late': (nodes, random) => endSlowly(nodes, between(random, 1_000, 1_400), 4_000),
  'MongoDB is late for all': (nodes, random) =>
    withLateDocuments(nodes.live, between(random, 200, 1_400), () => sleep(between(random, 2_000, 4_000))),
  'MongoDB is late for the holder': async (nodes, random) =>
    withLateDocuments([await nodes.holder()], between(random, 500, 4_000), () => sleep(between(random, 2_000, 4_000))),
  'the holder reaches no MongoDB': async (nodes, random) => withoutDocuments(await nodes.holder(), () => pause(random)),
  'MongoDB is killed': async ({ mongoDb }, random) => {
    await mongoDb.kill();
    await pause(random);
    await mongoDb.start();
  },
  'connections to MongoDB are cut': (nodes, random) => repeatOn(nodes, random, ({ documents }) => documents.cut()),
  'connections to MongoDB are mute': (nodes, random) =>
    repeatOn(nodes, random, ({ documents }) => documents.dropAnswers()),
  'connections to MongoDB take nothing': (nodes, random) =>
    repeatOn(nodes, random, ({ documents }) => documents.stopReading()),
  'EventStoreDB is frozen': async ({ double }, random) => {
    double.freeze();
    await pause(random);
    double.thaw();
  },
  'EventStoreDB is late': async ({ live }, random) => {
    for (const { events } of live) events.delay(between(random, 100, 700));
    await pause(random);
    for (const { events } of live) events.delay(0);
  },
  'connections to EventStoreDB are cut': (nodes, random) => repeatOn(nodes, random, ({ events }) => events.cut()),
  'connections to EventStoreDB are mute': (nodes, random) =>
    repeatOn(nodes, random, ({ events }) => events.dropAnswers()),
  'the holder is killed': async (nodes) => nodes.replace(await nodes.holder()),
  'the holder is frozen': async (nodes, random) => {
    const { service } = await nodes.holder();
    service.freeze();
    await pause(random);
    service.thaw();
  },
};

/** Disturbs the connections of a random node a few times. */
async function repeatOn(nodes: FaultyNodes, random: Random, disturb: (node: FaultyNode) => void): Promise<void> {
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    disturb(random.pick(nodes.live));
    await sleep(between(random, 200, 1_200));
  }
}
