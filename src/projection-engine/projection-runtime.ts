import type { Generation, ProjectionStatus } from '#read-store/read-store.ts';
import type { GenerationProjector } from './generation-projector.ts';
import type { AnyProjection } from './projection.ts';

/** How fast a rebuild goes. */
export interface Pace {
  readonly target: number;
  readonly eventsPerSecond: number;
  readonly positionsPerSecond: number;
}

/** Where the documents of one projection, as queries read them, stand. */
export interface ServedPosition {
  /** The position up to which they hold the log. */
  readonly position: number;
  /** They follow the log: false once it has stopped, and until this version of it was filled. */
  readonly live: boolean;
}

/** One projection in the runner: the generation that queries read, and the one that is being filled. */
export class ProjectionRuntime {
  readonly projection: AnyProjection;
  /** Ids of the events that operators have told it to leave out. */
  readonly skipped: Set<string>;
  /** What queries read, as long as this release's projection makes it. */
  current: GenerationProjector | null = null;
  /** What queries read while nothing is fed to it: another version's. */
  frozen: Generation | null = null;
  filling: GenerationProjector | null = null;

  constructor(projection: AnyProjection, skipped: Iterable<string>) {
    this.projection = projection;
    this.skipped = new Set(skipped);
  }

  get feeds(): ReadonlyArray<GenerationProjector> {
    return [this.current, this.filling].filter((feed) => feed !== null);
  }

  /** Where the log ended when the newest of its generations was begun. */
  get begunAt(): number {
    return (this.filling ?? this.current)?.generation.begunAt ?? 0;
  }

  /** It has seen the end of the log since the start, or cannot. */
  get settled(): boolean {
    const feed = this.current ?? this.filling;
    return feed !== null && (feed.caughtUp || feed.failure !== null);
  }

  /** Where what queries read stands. */
  get served(): ServedPosition {
    const live = this.current !== null && this.current.failure === null;
    return { position: this.current?.position ?? this.frozen?.checkpoint ?? this.filling?.position ?? 0, live };
  }

  /** What queries and operators are told. @param pace of the rebuild, if one runs */
  status(pace: Pace | null): ProjectionStatus {
    const failure = this.filling?.failure ?? this.current?.failure ?? null;
    const rebuilding = this.filling !== null && this.filling.failure === null;
    return {
      name: this.projection.name,
      version: this.projection.version,
      state: rebuilding ? 'rebuilding' : failure === null ? 'running' : 'stopped',
      ready: this.current !== null || this.frozen !== null,
      begunAt: this.begunAt,
      position: this.served.position,
      failure,
      rebuild: rebuilding ? progress(this.filling?.position ?? 0, pace) : null,
    };
  }
}

function progress(position: number, pace: Pace | null): ProjectionStatus['rebuild'] {
  const left = Math.max(0, (pace?.target ?? position) - position);
  const rate = pace?.positionsPerSecond ?? 0;
  return {
    position,
    target: position + left,
    eventsPerSecond: Math.round(pace?.eventsPerSecond ?? 0),
    secondsLeft: rate > 0 ? Math.ceil(left / rate) : null,
  };
}
