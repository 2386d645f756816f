import { eventually } from '#test/support/run/eventually.ts';
import { ClusterSeat } from './cluster-seat.ts';
import { EventLog, type LogCopy } from './event-log.ts';
import { type DoubleOptions, EventStoreDbDouble } from './eventstoredb-double.ts';
import type { Endpoint, Membership } from './membership.ts';
import type { Progress } from './progress.ts';

/** How long a cluster takes for what it does by itself: a tenth of what a real one takes. */
export interface ClusterTimes {
  /** From the loss of a leader to the next one. */
  electionMs: number;
  /** From an election until gossip names the new leader. Until then, gossip calls it a follower. */
  gossipMs: number;
  /** How long a leader without a majority continues as the leader (3 s in a real cluster). */
  noQuorumMs: number;
  /** How long it takes a node to notice that another one is silent or back. */
  noticeMs: number;
}

const defaultTimes: ClusterTimes = { electionMs: 150, gossipMs: 0, noQuorumMs: 300, noticeMs: 50 };

/**
 * A cluster of doubles, each with its own log and index. Events are committed once a majority has them. A leader that the
 * others do not hear is replaced. A node that comes back with events that the new leader does not have ends its process,
 * and loses them when it is started again.
 */
export class EventStoreDbClusterDouble {
  /** A test may change them at any time. */
  readonly times: ClusterTimes = { ...defaultTimes };
  /** Milliseconds since 1970, by which events age. */
  now: () => number = Date.now;
  readonly #seats: ClusterSeat[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #leader: ClusterSeat | null = null;
  /** Whether gossip names the leader. */
  #isNamed = false;
  #epoch = 0;
  #heldElections = 0;
  #isElecting = false;

  /** Starts a cluster with an empty log. @param size the number of nodes */
  static async start(size = 3, options: Pick<DoubleOptions, 'manner'> = {}): Promise<EventStoreDbClusterDouble> {
    const cluster = new EventStoreDbClusterDouble();
    for (let number = 0; number < size; number += 1) await cluster.#add(options);
    cluster.elect(cluster.nodes[0] as EventStoreDbDouble);
    return cluster;
  }

  private constructor() {}

  get nodes(): ReadonlyArray<EventStoreDbDouble> {
    return this.#seats.map(({ node }) => node);
  }

  /** `esdb://…` with all nodes. */
  get url(): string {
    return `esdb://${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`;
  }

  get hasLeader(): boolean {
    return this.#leader !== null;
  }

  /** @throws Error while there is none */
  get leader(): EventStoreDbDouble {
    if (this.#leader === null) throw new Error('The cluster has no leader.');
    return this.#leader.node;
  }

  /** The running nodes that follow the leader. */
  get followers(): ReadonlyArray<EventStoreDbDouble> {
    return this.#seats.filter(({ follows }) => follows).map(({ node }) => node);
  }

  /** The leader's. */
  get log(): EventLog {
    return this.leader.log;
  }

  /** How the leader's log comes to a node: a test may hold it or let it lag. */
  replicationTo(node: EventStoreDbDouble): Progress {
    return this.#seatOf(node).replication;
  }

  /** Makes a node the leader. The others follow it. */
  elect(node: EventStoreDbDouble): void {
    const leader = this.#seatOf(node);
    this.#epoch += 1;
    leader.epoch = this.#epoch;
    leader.leader = null;
    leader.role = 'leader';
    this.#leader = leader;
    this.#nameLater(leader);
    node.log.writeEpoch();
    for (const seat of this.#connected) if (seat !== leader) this.#follow(seat, leader);
    this.#commit(leader);
  }

  /** The leader resigns: its process continues as a follower, with its connections. */
  resign(): void {
    const resigned = this.#leader;
    this.#loseLeader();
    this.#electLater(resigned);
  }

  /** Elects nobody until the returned function is called. */
  holdElections(): () => void {
    this.#heldElections += 1;
    return () => {
      this.#heldElections -= 1;
      this.#review();
    };
  }

  /** The cluster has no leader until a test elects one, or a hold of elections ends. */
  depose(): () => void {
    const release = this.holdElections();
    this.#loseLeader();
    return release;
  }

  /** Gossip and refusals name this address for a node from now on. */
  advertise(node: EventStoreDbDouble, endpoint: Endpoint): void {
    this.#seatOf(node).advertised = endpoint;
  }

  async kill(node: EventStoreDbDouble): Promise<void> {
    const seat = this.#seatOf(node);
    await node.kill();
    seat.role = 'unknown';
    seat.leader = null;
    if (seat === this.#leader) this.#loseLeader();
    this.#review();
  }

  /** Starts a node that was killed or has ended. */
  async restart(node: EventStoreDbDouble): Promise<void> {
    await node.start();
    this.#review();
  }

  /** Suspends a node: it answers nothing, and the others do not hear it. */
  freeze(node: EventStoreDbDouble): void {
    node.freeze();
    this.#seatOf(node).isFrozen = true;
    this.#noticeLater();
  }

  /** Resumes a node. For a moment it continues with the role that it had. */
  thaw(node: EventStoreDbDouble): void {
    node.thaw();
    this.#seatOf(node).isFrozen = false;
    this.#noticeLater();
  }

  /** Breaks a node's connections to the other nodes. Clients reach it. */
  cutOff(node: EventStoreDbDouble): void {
    this.#seatOf(node).isCutOff = true;
    this.#noticeLater();
  }

  /** Connects a node to the others again. For a moment it continues with the role that it had. */
  rejoin(node: EventStoreDbDouble): void {
    this.#seatOf(node).isCutOff = false;
    this.#noticeLater();
  }

  /** Waits until a leader is elected, if there can be one, and every node that is connected follows it or has ended. */
  async settled(): Promise<void> {
    await eventually(() => {
      const connected = this.#connected;
      if (!this.#isMajority(connected)) return this.#leader === null;
      const leader = this.#leader;
      const isThere = leader !== null && this.#isNamed && leader.isConnected;
      return isThere && connected.every((seat) => seat === leader || seat.leader === leader);
    });
  }

  /** Scavenges every node. */
  scavenge(): void {
    for (const { log } of this.nodes) log.scavenge();
  }

  /** Restarts every node with a copy of a log, as from a backup, and elects the first one. */
  async restore(copy: LogCopy): Promise<void> {
    this.#loseLeader();
    await Promise.all(this.nodes.map((node) => node.restore(copy)));
    this.elect(this.nodes[0] as EventStoreDbDouble);
  }

  async end(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#heldElections += 1;
    await Promise.all(this.nodes.map((node) => node.kill()));
  }

  async #add(options: Pick<DoubleOptions, 'manner'>): Promise<void> {
    // The log of a new cluster begins on its first leader.
    const log = new EventLog(() => this.now(), this.#seats.length === 0);
    const membership = (one: EventStoreDbDouble) => this.#membershipOf(one);
    const node = await EventStoreDbDouble.start({ ...options, log, membership, commitsAlone: false });
    const seat = new ClusterSeat(node, ({ leader }) => leader !== null && this.#commit(leader));
    this.#seats.push(seat);
    log.listen({ written: () => seat.role === 'leader' && this.#replicate(seat), rewritten: () => {} });
  }

  #seatOf(node: EventStoreDbDouble): ClusterSeat {
    const seat = this.#seats.find((one) => one.node === node);
    if (seat === undefined) throw new RangeError('The node is not in this cluster.');
    return seat;
  }

  get #connected(): ReadonlyArray<ClusterSeat> {
    return this.#seats.filter(({ isConnected }) => isConnected);
  }

  #isMajority({ length }: ReadonlyArray<ClusterSeat>): boolean {
    return length > this.#seats.length / 2;
  }

  /** Copies what a leader has written to its followers, and commits what a majority has. */
  #replicate(leader: ClusterSeat): void {
    const { end } = leader.node.log;
    for (const seat of this.#seats) if (seat.follows && seat.leader === leader) seat.replication.go(end);
    this.#commit(leader);
  }

  /** Only nodes that follow a leader count for what it commits, each with its own log. */
  #commit(leader: ClusterSeat): void {
    if (leader.role !== 'leader') return;
    const followers = this.#seats.filter((seat) => seat.follows && seat.leader === leader);
    const ends = [leader, ...followers].map(({ node }) => node.log.end).sort((a, b) => b - a);
    const committed = ends[Math.floor(this.#seats.length / 2)];
    if (committed === undefined) return;
    for (const { node } of [leader, ...followers]) node.index.commit(committed);
  }

  #follow(seat: ClusterSeat, leader: ClusterSeat): void {
    const { log } = seat.node;
    const end = log.commonEnd(leader.node.log);
    seat.replication.reset();
    if ((log.events.at(-1)?.position ?? 0) >= end) {
      seat.role = 'unknown';
      seat.leader = null;
      void seat.node.endToCutOff(end);
      return;
    }
    if (end < log.end) log.truncate(end);
    seat.role = 'follower';
    seat.leader = leader;
    seat.epoch = leader.epoch;
    seat.replication.go(leader.node.log.end);
  }

  /** Looks after a while at who hears whom. */
  #noticeLater(): void {
    this.#after(this.times.noticeMs, () => this.#review());
  }

  /** Replaces a leader that is lost, and lets nodes that are back follow. */
  #review(): void {
    const connected = this.#connected;
    for (const seat of this.#seats) if (seat.isCutOff && !seat.isFrozen) this.#isolate(seat);
    const leader = this.#leader;
    if (leader !== null && !connected.includes(leader)) this.#leader = null;
    if (this.#leader !== null && !this.#isMajority(connected)) this.#retireLater(this.#leader);
    if (this.#leader === null) {
      for (const seat of connected) this.#forgetLeader(seat);
      if (this.#isMajority(connected)) this.#electLater(null);
      return;
    }
    for (const seat of connected)
      if (seat !== this.#leader && seat.leader !== this.#leader) this.#follow(seat, this.#leader);
    this.#replicate(this.#leader);
  }

  /** A follower that hears no leader knows none; a leader continues for a while. */
  #isolate(seat: ClusterSeat): void {
    if (seat.role === 'leader') this.#retireLater(seat);
    else this.#forgetLeader(seat);
  }

  #retireLater(leader: ClusterSeat): void {
    this.#after(this.times.noQuorumMs, () => {
      const isAlone = leader.isCutOff || !this.#isMajority(this.#connected);
      if (leader.role !== 'leader' || leader.isFrozen || !isAlone) return;
      this.#forgetLeader(leader);
      if (this.#leader === leader) this.#loseLeader();
    });
  }

  #loseLeader(): void {
    this.#leader = null;
    this.#isNamed = false;
    for (const seat of this.#connected) this.#forgetLeader(seat);
  }

  #forgetLeader(seat: ClusterSeat): void {
    seat.role = 'unknown';
    seat.leader = null;
  }

  /** Elects the most advanced node. @param resigned is only elected if there is no other one */
  #electLater(resigned: ClusterSeat | null): void {
    if (this.#isElecting) return;
    this.#isElecting = true;
    this.#after(this.times.electionMs, () => {
      this.#isElecting = false;
      const connected = this.#connected;
      if (this.#leader !== null || this.#heldElections > 0 || !this.#isMajority(connected)) return;
      const [next] = connected.toSorted(
        (a, b) =>
          Number(a === resigned) - Number(b === resigned) || b.epoch - a.epoch || b.node.log.end - a.node.log.end,
      );
      if (next !== undefined) this.elect(next.node);
    });
  }

  #nameLater(leader: ClusterSeat): void {
    const name = () => {
      if (this.#leader === leader) this.#isNamed = true;
    };
    this.#isNamed = false;
    if (this.times.gossipMs === 0) name();
    else this.#after(this.times.gossipMs, name);
  }

  #membershipOf(node: EventStoreDbDouble): Membership {
    const own = this.#seats.find((seat) => seat.node === node);
    if (own === undefined) return { role: 'unknown', leader: null, members: [] };
    const leader = own.role === 'leader' ? own : own.leader;
    const members = this.#seats.map((seat) => ({
      instanceId: seat.node.instanceId,
      endpoint: seat.advertised,
      role: seat === this.#leader && !this.#isNamed ? ('follower' as const) : seat.role,
      isAlive: seat === own || seat === leader || (own.isConnected && seat.isConnected),
    }));
    return { role: own.role, leader: leader?.advertised ?? null, members };
  }

  #after(milliseconds: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, milliseconds);
    this.#timers.add(timer);
  }
}
