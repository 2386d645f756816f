import type { WaitOutcome } from '#projection-engine/progress/position-waiter.ts';
import { ProjectionWaiter } from '#projection-engine/progress/projection-waiter.ts';
import type { FollowingStatus, ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import type { FromProjector } from './projector-messages.ts';
import { ProjectorThread, type ProjectorThreadOptions } from './projector-thread.ts';

/** The projections of an embedded read store. A thread of this process runs them and is the store's only writer. */
export interface EmbeddedProjections extends ProjectionsProgress {
  /**
   * Calls a listener when documents may have changed, before any wait for them ends.
   * @returns a function that unsubscribes it
   */
  onCommit(listener: () => void): () => void;
  /** Waits until the thread has finished its batch and stored its checkpoints; 5 s at most. */
  close(): Promise<void>;
}

/**
 * Starts the projections in a thread, which is restarted after a failure.
 * @returns when both stores are open
 * @throws Error if the thread cannot start
 */
export async function startEmbeddedProjections(options: ProjectorThreadOptions): Promise<EmbeddedProjections> {
  const projections = new ThreadProjections(options);
  await projections.start();
  return projections;
}

class ThreadProjections implements EmbeddedProjections {
  readonly #thread: ProjectorThread;
  readonly #waits = new ProjectionWaiter();
  readonly #listeners = new Set<(statuses: ReadonlyArray<ProjectionStatus>) => void>();
  readonly #commitListeners = new Set<() => void>();
  #statuses: ReadonlyArray<ProjectionStatus> = [];
  /** Arrives more often than the statuses, in the same order. */
  #served: ReadonlyArray<ServedPosition> = [];
  #ready = false;

  constructor(options: ProjectorThreadOptions) {
    this.#thread = new ProjectorThread(options, {
      onMessage: (message) => this.#receive(message),
      onExit: () => this.#exited(),
      onState: () => this.#notifyListeners(),
    });
  }

  start(): Promise<void> {
    return this.#thread.start();
  }

  waitFor(position: number, types: ReadonlyArray<string>, timeoutMs: number): Promise<WaitOutcome> {
    return this.#waits.forTypes(types, position, timeoutMs);
  }

  waitForProjections(names: ReadonlyArray<string>, position: number, timeoutMs: number): Promise<WaitOutcome> {
    return this.#waits.forNames(names, position, timeoutMs);
  }

  status(): ReadonlyArray<ProjectionStatus> {
    return this.#statuses.map((status, index) => ({
      ...status,
      position: this.#served[index]?.position ?? status.position,
    }));
  }

  following(): FollowingStatus {
    const { state, failure } = this.#thread;
    const died = state === 'restarting' && failure !== null ? `: ${failure}` : '';
    return { live: this.#ready && state === 'running', detail: `thread ${state}${died}` };
  }

  onCommit(listener: () => void): () => void {
    this.#commitListeners.add(listener);
    return () => this.#commitListeners.delete(listener);
  }

  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#thread.close();
    this.#waits.close();
  }

  #receive(message: FromProjector): void {
    switch (message.kind) {
      case 'positions':
        this.#notifyCommit();
        this.#served = message.served;
        this.#waits.update(message.served);
        break;
      case 'status':
        // A rebuild was swapped in, perhaps at the same position as the old documents.
        this.#notifyCommit();
        this.#statuses = message.statuses;
        this.#ready = message.ready;
        this.#notifyListeners();
        break;
      case 'opened':
        this.#waits.setProjections(message.projections);
    }
  }

  #exited(): void {
    this.#ready = false;
    this.#notifyCommit();
    // No thread follows the log now, so a command must not wait for its read models.
    if (this.#thread.state !== 'closed') this.#waits.update([]);
  }

  #notifyCommit(): void {
    for (const listener of this.#commitListeners) listener();
  }

  #notifyListeners(): void {
    const statuses = this.status();
    for (const listener of this.#listeners) listener(statuses);
  }
}
