export interface Rebuild {
  readonly position: number;
  readonly target: number;
  /** The completed part, from 0 to 1. */
  readonly part?: number;
  readonly eventsPerSecond: number;
  readonly secondsLeft: number | null;
}

/** A projection or a process. */
export interface Follower {
  readonly name: string;
  /** Only a projection has one. */
  readonly version?: number;
  readonly state: 'running' | 'rebuilding' | 'waiting' | 'stopped';
  readonly position: number;
  /** The number of positions to the end of the log; null if that is not known. */
  readonly lag: number | null;
  readonly lagMs: number | null;
  readonly failure: {
    readonly eventId: string;
    readonly eventType: string;
    readonly position: number;
    readonly message: string;
  } | null;
  readonly rebuild?: Rebuild | null;
  /** Only for a projection: the streams that lacked events when it was built. */
  readonly incompleteStreams?: {
    readonly count: number;
    readonly isExact: boolean;
    readonly first: ReadonlyArray<{ readonly stream: string }>;
  };
  /** Only for a process: what it waits for; null if it does not wait. */
  readonly waitingFor?: string | null;
}

/** The answer to `GET /v1/dashboard/projections`. */
export interface FollowersAnswer {
  readonly logEnd: number | null;
  readonly projections: ReadonlyArray<Follower>;
  readonly processes: ReadonlyArray<Follower>;
  readonly unknownEvents: ReadonlyArray<{
    readonly type: string;
    readonly count: number;
    readonly lastPosition: number;
  }>;
  /** The last verification; null before the first, and without signed digests. */
  readonly verification: {
    readonly time: string;
    readonly events: number;
    readonly findings: ReadonlyArray<string>;
    readonly findingCount: number;
  } | null;
  readonly past: {
    readonly times: ReadonlyArray<string>;
    readonly worstLag: ReadonlyArray<number>;
    readonly worstLagMs: ReadonlyArray<number>;
    readonly growth: ReadonlyArray<number>;
  };
}
