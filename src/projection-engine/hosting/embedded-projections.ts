import type { PositionSink } from '#positions/positions.ts';
import type { FollowingStatus, ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import type { FromProjector } from './projector-messages.ts';
import { followedBy, ProjectorThread, type ProjectorThreadOptions } from './projector-thread.ts';

export interface EmbeddedProjectionsOptions extends ProjectorThreadOptions {
  /** Receives the positions after the documents are stored. */
  readonly positions: PositionSink;
}

/** Projections that a thread of this process runs. It is the only writer of the embedded read store. */
export class EmbeddedProjections implements ProjectionsProgress {
  readonly #thread: ProjectorThread;
  readonly #positions: PositionSink;
  readonly #listeners = new Set<(statuses: ReadonlyArray<ProjectionStatus>) => void>();
  readonly #commitListeners = new Set<() => void>();
  #statuses: ReadonlyArray<ProjectionStatus> = [];
  /** The served positions, which arrive more often than the statuses, in the same order. */
  #served: ReadonlyArray<ServedPosition> = [];
  #ready = false;
  /** The projections, in the order of the messages of the thread. */
  #names: ReadonlyArray<string> = [];

  constructor({ positions, ...options }: EmbeddedProjectionsOptions) {
    this.#positions = positions;
    this.#thread = new ProjectorThread(options, {
      onMessage: (message) => this.#receive(message),
      onExit: () => this.#exited(),
      onState: () => this.#notifyListeners(),
    });
  }

  /**
   * Resolves when both stores are open. The thread is restarted after a failure.
   * @throws Error if the thread cannot start
   */
  start(): Promise<void> {
    return this.#thread.start();
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

  /**
   * Called when documents may have changed, before any wait for them ends.
   * @returns a function that unsubscribes the listener
   */
  onCommit(listener: () => void): () => void {
    this.#commitListeners.add(listener);
    return () => this.#commitListeners.delete(listener);
  }

  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Waits until the thread has finished its batch and stored its checkpoints; 4 s at most. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  #receive(message: FromProjector): void {
    switch (message.kind) {
      case 'positions':
        this.#notifyCommit();
        this.#served = message.served;
        this.#positions.update('projection', followedBy(this.#names, message.served));
        break;
      case 'status':
        // A rebuild was swapped in, perhaps at the same position as the old documents.
        this.#notifyCommit();
        this.#statuses = message.statuses;
        this.#ready = message.ready;
        this.#notifyListeners();
        break;
      case 'opened':
        this.#names = message.projections.map(({ name }) => name);
        this.#positions.declare('projection', message.projections);
    }
  }

  #exited(): void {
    this.#ready = false;
    this.#notifyCommit();
    // No thread follows the log now, so a command must not wait for its read models.
    if (this.#thread.state !== 'closed') this.#positions.update('projection', new Map());
  }

  #notifyCommit(): void {
    for (const listener of this.#commitListeners) listener();
  }

  #notifyListeners(): void {
    const statuses = this.status();
    for (const listener of this.#listeners) listener(statuses);
  }
}
