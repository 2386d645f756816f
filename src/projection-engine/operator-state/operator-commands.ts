import type { CatchUp } from '#projection-engine/catch-up.ts';
import type { GenerationStarter } from '#projection-engine/generation-starter.ts';
import type { ProjectionRuntime } from '#projection-engine/projection-runtime.ts';
import type { OperatorRequest } from './operator-requests.ts';

export interface OperatorCommandsOptions {
  readonly runtimes: ReadonlyArray<ProjectionRuntime>;
  readonly generations: GenerationStarter;
  readonly catchUp: CatchUp;
  /** Reads the position of the last event of the log. */
  readonly lastPosition: () => Promise<number>;
}

/** Carries out the operators' requests to projections: rebuilds, retries and skipped events. */
export class OperatorCommands {
  readonly #options: OperatorCommandsOptions;

  constructor(options: OperatorCommandsOptions) {
    this.#options = options;
  }

  /** Carries out a request. A request for a projection that this release does not have is ignored. */
  async apply(request: OperatorRequest): Promise<void> {
    const runtime = this.#options.runtimes.find(({ projection }) => projection.name === request.data.projection);
    if (runtime === undefined) return;
    switch (request.type) {
      case 'ProjectionRebuildRequested':
        return this.#rebuild(runtime, request.position);
      case 'ProjectionEventSkipped':
        runtime.skipped.add(request.data.eventId);
        return this.#retryFailed(runtime);
      case 'ProjectionRetried':
        return this.#retryFailed(runtime);
    }
  }

  /** @param requestedAt the request's position */
  async #rebuild(runtime: ProjectionRuntime, requestedAt: number): Promise<void> {
    // A generation that began after the request fulfils it, so a request is carried out once, even after a restart.
    if (runtime.begunAt >= requestedAt) return;
    const { generations, catchUp, lastPosition } = this.#options;
    const before = runtime.filling;
    const filling = await generations.begin(runtime, Math.max(await lastPosition(), requestedAt));
    if (before !== null) catchUp.remove(before);
    catchUp.add([filling]);
  }

  #retryFailed(runtime: ProjectionRuntime): void {
    this.#options.catchUp.retry(runtime.projectors.filter(({ failure }) => failure !== null));
  }
}
