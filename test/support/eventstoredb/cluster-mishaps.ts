import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#test/support/run/random.ts';
import type { EventStoreDbClusterDouble } from './cluster-double.ts';

/** What can happen to a cluster. Each ends when every node runs again and follows one leader. */
export type Mishap = (cluster: EventStoreDbClusterDouble, random: Random) => Promise<void>;

export const mishaps: Readonly<Record<string, Mishap>> = {
  'the leader is killed': async (cluster, random) => {
    await cluster.kill(cluster.leader);
    await sleep(random.between(50, 500));
  },
  'a node is frozen, and continues': async (cluster, random) => {
    cluster.freeze(random.pick([cluster.leader, random.pick(cluster.nodes)]));
    await sleep(random.between(20, 700));
  },
  'the leader resigns': async (cluster, random) => {
    cluster.resign();
    await sleep(random.between(50, 400));
  },
  'the leader is cut off': async (cluster, random) => {
    cluster.cutOff(cluster.leader);
    await sleep(random.between(20, 700));
  },
  'two nodes are lost': async (cluster, random) => {
    for (const node of cluster.followers) {
      if (random.below(2) === 0) await cluster.kill(node);
      else cluster.freeze(node);
    }
    await sleep(random.between(100, 700));
  },
  'the leader is lost with events that no other node has': async (cluster, random) => {
    const { leader } = cluster;
    const releases = cluster.followers.map((node) => cluster.replicationTo(node).hold());
    await sleep(random.between(20, 200));
    const lose = random.pick(['kill', 'freeze', 'cutOff'] as const);
    await cluster[lose](leader);
    for (const release of releases) release();
    await sleep(random.between(50, 700));
  },
};

/** Lets nodes index and replicate late, and gossip be behind, until the next call. */
export function disturb(cluster: EventStoreDbClusterDouble, random: Random): void {
  for (const node of cluster.nodes) {
    node.index.progress.lagMs = random.pick([0, 0, 5, 40]);
    cluster.replicationTo(node).lagMs = random.pick([0, 0, 5, 20]);
  }
  cluster.times.gossipMs = random.pick([0, 0, 200]);
  // Its followers are ahead of it meanwhile.
  const release = cluster.leader.index.progress.hold();
  setTimeout(release, random.pick([0, 100, 300]));
}

/** Brings every node back, until all of them run and follow one leader. */
export async function heal(cluster: EventStoreDbClusterDouble): Promise<void> {
  for (const node of cluster.nodes) {
    cluster.thaw(node);
    cluster.rejoin(node);
  }
  do {
    for (const node of cluster.nodes) if (!node.isRunning) await cluster.restart(node);
    await cluster.settled();
  } while (cluster.nodes.some(({ isRunning }) => !isRunning));
}
