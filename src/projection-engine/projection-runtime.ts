import type { DocumentBufferLimits } from '#projection-engine/documents/document-buffer.ts';
import { type IncompleteStreams, noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { CollectionDefinition, Generation, ProjectionStatus, ReadStoreWriter } from '#read-store/read-store.ts';
import { GenerationProjector } from './generation-projector.ts';
import type { AnyProjection } from './projection.ts';

export interface Pace {
  readonly target: number;
  readonly eventsPerSecond: number;
  readonly positionsPerSecond: number;
}

/** A projection with the generation that queries read, and the one that is being filled. */
export class ProjectionRuntime {
  readonly projection: AnyProjection;
  /** Ids of the events that operators have skipped for it. */
  readonly skipped: Set<string>;
  readonly #skippedByAll: ReadonlySet<string>;
  /** The generation that queries read. Null if this release's version of the projection did not fill it. */
  current: GenerationProjector | null = null;
  /** The generation of another version. Queries read it until this version is filled. It gets no more events. */
  previous: Generation | null = null;
  filling: GenerationProjector | null = null;
  /** The streams that lacked events when the documents that queries read were built. */
  incompleteStreams: IncompleteStreams = noIncompleteStreams;

  /** @param skippedByAll the ids of the events that operators have skipped for every projection; it may grow */
  constructor(projection: AnyProjection, skipped: Iterable<string>, skippedByAll: ReadonlySet<string>) {
    this.projection = projection;
    this.skipped = new Set(skipped);
    this.#skippedByAll = skippedByAll;
  }

  isSkipped(eventId: string): boolean {
    return this.skipped.has(eventId) || this.#skippedByAll.has(eventId);
  }

  get projectors(): ReadonlyArray<GenerationProjector> {
    return [this.current, this.filling].filter((projector) => projector !== null);
  }

  /** The end of the log when the newest generation began. */
  get begunAt(): number {
    return (this.filling ?? this.current)?.generation.begunAt ?? 0;
  }

  /** True if it has seen the end of the log since the start, or has stopped. */
  get settled(): boolean {
    const projector = this.current ?? this.filling;
    return projector !== null && (projector.caughtUp || projector.failure !== null);
  }

  get served(): ServedPosition {
    const live = this.current !== null && this.current.failure === null;
    const generation = this.current?.generation ?? this.previous ?? this.filling?.generation;
    const position = this.current?.position ?? this.previous?.checkpoint ?? this.filling?.position ?? 0;
    return { position, live, generation: generation?.number ?? 0 };
  }

  /** @param pace of the rebuild, if one runs */
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
      rebuild: rebuilding ? rebuildProgress(this.filling?.position ?? 0, pace) : null,
      incompleteStreams: this.incompleteStreams,
    };
  }
}

export function runtimeOf(
  { projection }: GenerationProjector,
  runtimes: ReadonlyArray<ProjectionRuntime>,
): ProjectionRuntime {
  const runtime = runtimes.find((one) => one.projection === projection);
  if (runtime === undefined) throw new Error(`No projection ${projection.name} is run here.`);
  return runtime;
}

/** @param pace null before the first measurement */
export function rebuildProgress(position: number, pace: Pace | null): NonNullable<ProjectionStatus['rebuild']> {
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

/** The limits of a generation that follows the log. */
export const liveLimits: DocumentBufferLimits = { maxDocuments: 1000, maxBytes: 8 * 1024 * 1024 };

/** The limits of a generation that is being filled. */
export const rebuildLimits: DocumentBufferLimits = {
  maxDocuments: 12_000,
  firstDocuments: 3_000,
  maxBytes: 32 * 1024 * 1024,
  asTexts: true,
};

export interface GenerationStarterOptions {
  readonly store: Pick<ReadStoreWriter, 'generations' | 'begin'>;
  readonly persist: Persist;
}

export interface ContinuedLog {
  readonly end: number;
  /** True if the stored documents were made from another log. */
  readonly isFromOtherLog: boolean;
}

/** Starts stored generations and new ones. */
export class GenerationStarter {
  readonly #options: GenerationStarterOptions;

  constructor(options: GenerationStarterOptions) {
    this.#options = options;
  }

  /**
   * Continues a projection from its stored generations, or begins a new one if none can be continued.
   * @throws what the store throws other than UnavailableError, which is retried
   */
  async open(runtime: ProjectionRuntime, { end, isFromOtherLog }: ContinuedLog): Promise<void> {
    const { projection } = runtime;
    const { store, persist } = this.#options;
    const { current, filling } = await persist('Reading the generations', () => store.generations(projection.name));
    const isUsable = (generation: Generation | null): generation is Generation =>
      generation !== null && !isFromOtherLog && canContinue(generation, projection, end);
    if (isUsable(current) && current.complete) runtime.current = projectorOf(runtime, current, liveLimits);
    // Documents from another log must not answer queries about this one.
    else if (current?.complete === true && !isFromOtherLog) runtime.previous = current;
    const unfinished = [filling, current].find((generation) => isUsable(generation) && !generation.complete);
    if (unfinished) runtime.filling = projectorOf(runtime, unfinished, rebuildLimits);
    if (runtime.current === null && runtime.filling === null) await this.begin(runtime, end);
  }

  /**
   * Begins a new generation next to the one that queries read.
   * @param begunAt the end of the log
   * @returns the projector that fills it
   * @throws what the store throws other than UnavailableError, which is retried
   */
  async begin(runtime: ProjectionRuntime, begunAt: number): Promise<GenerationProjector> {
    const { name, version, indexes } = runtime.projection;
    const { store, persist } = this.#options;
    const generation = await persist('Beginning a rebuild', () => store.begin({ name, version, indexes }, begunAt));
    runtime.filling = projectorOf(runtime, generation, rebuildLimits);
    return runtime.filling;
  }
}

function projectorOf(
  runtime: ProjectionRuntime,
  generation: Generation,
  limits: DocumentBufferLimits,
): GenerationProjector {
  return new GenerationProjector(runtime.projection, generation, (eventId) => runtime.isSkipped(eventId), limits);
}

/** True if this release's projection can continue the generation on a log with this end. */
function canContinue(generation: Generation, projection: AnyProjection, end: number): boolean {
  return fits(generation, projection) && generation.checkpoint <= end && generation.begunAt <= end;
}

function fits(generation: CollectionDefinition, projection: AnyProjection): boolean {
  return (
    generation.version === projection.version &&
    JSON.stringify(generation.indexes) === JSON.stringify(projection.indexes)
  );
}
