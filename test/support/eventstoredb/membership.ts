/** What a node is in its cluster; `unknown` without a leader. */
export type NodeRole = 'leader' | 'follower' | 'unknown';

/** Where clients reach a node. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A node as another one, or itself, describes it. */
export interface ClusterMember {
  readonly instanceId: string;
  readonly endpoint: Endpoint;
  readonly role: NodeRole;
  readonly isAlive: boolean;
}

/** What a node knows of its cluster. */
export interface Membership {
  readonly role: NodeRole;
  /** Where the leader says that it is; null while the node knows none. */
  readonly leader: Endpoint | null;
  readonly members: ReadonlyArray<ClusterMember>;
}
