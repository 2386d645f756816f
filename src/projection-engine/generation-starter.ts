import type { CollectionDefinition, Generation, ReadStoreWriter } from '#read-store/read-store.ts';
import type { DocumentBufferLimits } from './documents/document-buffer.ts';
import { GenerationProjector } from './generation-projector.ts';
import type { AnyProjection } from './projection.ts';
import { liveLimits, type Persist, type ProjectionRuntime, rebuildLimits } from './projection-runtime.ts';

export interface GenerationStarterOptions {
  readonly store: Pick<ReadStoreWriter, 'generations' | 'begin'>;
  readonly persist: Persist;
}

/** Opens the generations into which projections are folded: stored ones and new ones. */
export class GenerationStarter {
  readonly #options: GenerationStarterOptions;

  constructor(options: GenerationStarterOptions) {
    this.#options = options;
  }

  /**
   * Continues a projection from its stored generations, or begins a new one if none can be continued.
   * @param end of the log
   * @param isFromOtherLog whether the stored documents were made from another log
   * @throws what the store throws other than UnavailableError, which is retried
   */
  async open(runtime: ProjectionRuntime, end: number, isFromOtherLog: boolean): Promise<void> {
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
  { projection, skipped }: ProjectionRuntime,
  generation: Generation,
  limits: DocumentBufferLimits,
): GenerationProjector {
  return new GenerationProjector(projection, generation, skipped, limits);
}

/** Whether a generation can be continued by this release's projection, on a log with this end. */
function canContinue(generation: Generation, projection: AnyProjection, end: number): boolean {
  return fits(generation, projection) && generation.checkpoint <= end && generation.begunAt <= end;
}

function fits(generation: CollectionDefinition, projection: AnyProjection): boolean {
  return (
    generation.version === projection.version &&
    JSON.stringify(generation.indexes) === JSON.stringify(projection.indexes)
  );
}
