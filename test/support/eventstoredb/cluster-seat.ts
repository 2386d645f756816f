import type { EventStoreDbDouble } from './eventstoredb-double.ts';
import type { Endpoint, NodeRole } from './membership.ts';
import { Progress } from './progress.ts';

/** A node with its place in the cluster. */
export class ClusterSeat {
  readonly node: EventStoreDbDouble;
  role: NodeRole = 'unknown';
  /** The node that it follows; null for none. */
  leader: ClusterSeat | null = null;
  /** The number of the last election whose record it has. */
  epoch = 0;
  isFrozen = false;
  isCutOff = false;
  /** Where it says that it is. */
  advertised: Endpoint;
  /** How the leader's log comes to it. */
  readonly replication = new Progress((goal) => this.#copy(goal));
  readonly #onCopied: (seat: ClusterSeat) => void;

  /** @param onCopied is called when it has more of its leader's log */
  constructor(node: EventStoreDbDouble, onCopied: (seat: ClusterSeat) => void) {
    this.node = node;
    this.advertised = node.endpoint;
    this.#onCopied = onCopied;
  }

  /** Whether the other nodes hear from it. */
  get isConnected(): boolean {
    return this.node.isRunning && !this.isFrozen && !this.isCutOff;
  }

  /** Whether it follows a leader that it hears. */
  get follows(): boolean {
    return this.role === 'follower' && this.isConnected && this.leader?.isConnected === true;
  }

  #copy(goal: number): void {
    if (!this.follows || this.leader === null) return;
    const { log } = this.leader.node;
    const { lagEvents } = this.replication;
    const last = log.events[log.placeOf(goal) - lagEvents - 1];
    this.node.log.copyFrom(log, lagEvents === 0 ? goal : (last?.end ?? 0));
    this.#onCopied(this);
  }
}
