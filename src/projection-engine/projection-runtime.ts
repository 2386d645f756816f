import type { ServedPosition } from '#read-store/published-positions.ts';
import type { Generation, ProjectionStatus } from '#read-store/read-store.ts';
import type { DocumentBufferLimits } from './documents/document-buffer.ts';
import type { GenerationProjector } from './generation-projector.ts';
import type { AnyProjection } from './projection.ts';

/** The speed of a rebuild. */
export interface Pace {
  readonly target: number;
  readonly eventsPerSecond: number;
  readonly positionsPerSecond: number;
}

/** One projection in the runner: the generation that queries read, and the one that is being filled. */
export class ProjectionRuntime {
  readonly projection: AnyProjection;
  /** Ids of the events that operators have skipped for it. */
  readonly skipped: Set<string>;
  /** The generation that queries read, if this release's version of the projection filled it. */
  current: GenerationProjector | null = null;
  /** The generation of another version, which queries read until this version is filled. It gets no more events. */
  previous: Generation | null = null;
  filling: GenerationProjector | null = null;

  constructor(projection: AnyProjection, skipped: Iterable<string>) {
    this.projection = projection;
    this.skipped = new Set(skipped);
  }

  get projectors(): ReadonlyArray<GenerationProjector> {
    return [this.current, this.filling].filter((projector) => projector !== null);
  }

  /** The end of the log when the newest of its generations began. */
  get begunAt(): number {
    return (this.filling ?? this.current)?.generation.begunAt ?? 0;
  }

  /** Whether it has seen the end of the log since the start, or has stopped. */
  get settled(): boolean {
    const projector = this.current ?? this.filling;
    return projector !== null && (projector.caughtUp || projector.failure !== null);
  }

  /** The position of the documents that queries read. */
  get served(): ServedPosition {
    const live = this.current !== null && this.current.failure === null;
    const generation = this.current?.generation ?? this.previous ?? this.filling?.generation;
    const position = this.current?.position ?? this.previous?.checkpoint ?? this.filling?.position ?? 0;
    return { position, live, generation: generation?.number ?? 0 };
  }

  /** The status for queries and operators. @param pace of the rebuild, if one runs */
  status(pace: Pace | null): ProjectionStatus {
    const failure = this.filling?.failure ?? this.current?.failure ?? null;
    const rebuilding = this.filling !== null && this.filling.failure === null;
    return {
      name: this.projection.name,
      version: this.projection.version,
      state: rebuilding ? 'rebuilding' : failure === null ? 'running' : 'stopped',
      ready: this.current !== null || this.previous !== null,
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

/**
 * Calls a store until it answers.
 * @param what the name of the call in the log
 * @throws what `call` throws other than UnavailableError, which is retried
 */
export type Persist = <Result>(what: string, call: () => Promise<Result>) => Promise<Result>;

/** What a generation that follows the log keeps in memory. */
export const liveLimits: DocumentBufferLimits = { maxDocuments: 1000, maxBytes: 8 * 1024 * 1024 };

/** What a generation that is being filled keeps in memory. */
export const rebuildLimits: DocumentBufferLimits = {
  maxDocuments: 12_000,
  firstDocuments: 3_000,
  maxBytes: 32 * 1024 * 1024,
  asTexts: true,
};
