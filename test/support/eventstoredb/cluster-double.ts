import { EventLog } from './event-log.ts';
import { type ClusterMember, type DoubleOptions, EventStoreDbDouble } from './eventstoredb-double.ts';
import { notLeader } from './faults/failures.ts';

/**
 * A cluster of doubles: nodes of one log, one of which is the leader. Followers redirect calls that need the leader. Every
 * node has all acknowledged events, as in a real cluster, whose new leader is always the most advanced node.
 */
export class EventStoreDbClusterDouble {
  readonly nodes: ReadonlyArray<EventStoreDbDouble>;
  readonly #alive = new Set<EventStoreDbDouble>();
  #leader: EventStoreDbDouble;

  /** Starts a cluster with an empty log. @param size the number of nodes */
  static async start(size = 3, options: Pick<DoubleOptions, 'manner'> = {}): Promise<EventStoreDbClusterDouble> {
    const log = new EventLog();
    const nodes: EventStoreDbDouble[] = [];
    const members = () => cluster?.members() ?? [];
    let cluster: EventStoreDbClusterDouble | null = null;
    for (let number = 0; number < size; number += 1)
      nodes.push(await EventStoreDbDouble.start({ ...options, log, members }));
    cluster = new EventStoreDbClusterDouble(nodes);
    return cluster;
  }

  private constructor(nodes: ReadonlyArray<EventStoreDbDouble>) {
    const [first] = nodes;
    if (first === undefined) throw new RangeError('A cluster has one node at least.');
    this.nodes = nodes;
    this.#leader = first;
    for (const node of nodes) this.#alive.add(node);
    this.elect(first);
  }

  /** `esdb://…` with all nodes. */
  get url(): string {
    return `esdb://${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`;
  }

  get leader(): EventStoreDbDouble {
    return this.#leader;
  }

  get log(): EventLog {
    return this.#leader.log;
  }

  members(): ReadonlyArray<ClusterMember> {
    return this.nodes.map((node) => ({
      port: node.port,
      state: node === this.#leader ? 'leader' : 'follower',
      isAlive: this.#alive.has(node),
    }));
  }

  /** Makes a node the leader; the others redirect to it. */
  elect(leader: EventStoreDbDouble): void {
    this.#leader = leader;
    for (const node of this.nodes) {
      node.faults.notReady = false;
      node.faults.notLeader = node === leader ? null : notLeader({ host: '127.0.0.1', port: leader.port });
    }
  }

  /** Kills the leader. The others elect a new one after a time. @param electionMs the time without a leader */
  async killLeader(electionMs: number): Promise<void> {
    const killed = this.#leader;
    this.#alive.delete(killed);
    await killed.kill();
    const survivors = this.nodes.filter((node) => this.#alive.has(node));
    for (const { faults } of survivors) {
      faults.notLeader = null;
      faults.notReady = true;
    }
    await new Promise((resolve) => setTimeout(resolve, electionMs));
    const [next] = survivors;
    if (next !== undefined) this.elect(next);
  }

  /** Restarts a killed node as a follower. */
  async restart(node: EventStoreDbDouble): Promise<void> {
    await node.start();
    this.#alive.add(node);
    this.elect(this.#leader);
  }

  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }
}
