import type { PositionSink } from '#positions/positions.ts';
import type { FollowingStatus, ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import type { StoredSnapshot } from '#read-store/snapshot-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type FromProjector, followedBy, type ToSave } from './projector-messages.ts';
import { ProjectorThread, type ProjectorThreadOptions } from './projector-thread.ts';

const saveTimeoutMs = 5000;

export interface EmbeddedProjectionsOptions extends ProjectorThreadOptions {
  /** Receives the positions, after the documents. */
  readonly positions: PositionSink;
}

interface PendingSave {
  readonly resolve: () => void;
  readonly reject: (error: UnavailableError) => void;
}

/** The projections of an embedded read store. A thread of this process runs them and is the store's only writer. */
export class EmbeddedProjections implements ProjectionsProgress {
  readonly #thread: ProjectorThread;
  readonly #positions: PositionSink;
  readonly #listeners = new Set<(statuses: ReadonlyArray<ProjectionStatus>) => void>();
  readonly #commitListeners = new Set<() => void>();
  readonly #saves = new Map<number, PendingSave>();
  #statuses: ReadonlyArray<ProjectionStatus> = [];
  /** Arrives more often than the statuses, in the same order. */
  #served: ReadonlyArray<ServedPosition> = [];
  #ready = false;
  #requests = 0;
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
   * Starts the thread, which is restarted after a failure. Resolves when both stores are open.
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
   * Calls a listener when documents may have changed, before any wait for them ends.
   * @returns a function that unsubscribes it
   */
  onCommit(listener: () => void): () => void {
    this.#commitListeners.add(listener);
    return () => this.#commitListeners.delete(listener);
  }

  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores when keys were last used; resolves when it is done. @throws UnavailableError */
  saveKeysLastUsed(times: ReadonlyMap<string, string>): Promise<void> {
    return this.#save({ kind: 'save-keys-last-used', times });
  }

  /** Stores a stream's snapshot; resolves when it is done. @throws UnavailableError */
  saveSnapshot(snapshot: StoredSnapshot): Promise<void> {
    return this.#save({ kind: 'save-snapshot', snapshot });
  }

  #save(what: ToSave): Promise<void> {
    if (this.#thread.state !== 'running') return Promise.reject(new UnavailableError('The projector thread is down.'));
    this.#requests += 1;
    const request = this.#requests;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new UnavailableError('The projector thread does not answer.')),
      saveTimeoutMs,
    );
    this.#saves.set(request, { resolve, reject });
    this.#thread.post({ ...what, request });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#saves.delete(request);
    });
  }

  /** Waits until the thread has finished its batch and stored its checkpoints; 5 s at most. */
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
        break;
      case 'saved':
        this.#settleSave(message.request, message.failure);
    }
  }

  #exited(): void {
    this.#ready = false;
    this.#notifyCommit();
    for (const { reject } of this.#saves.values()) reject(new UnavailableError('The projector thread has ended.'));
    // No thread follows the log now, so a command must not wait for its read models.
    if (this.#thread.state !== 'closed') this.#positions.update('projection', new Map());
  }

  #settleSave(request: number, failure: string | null): void {
    const save = this.#saves.get(request);
    if (failure === null) save?.resolve();
    else save?.reject(new UnavailableError(failure));
  }

  #notifyCommit(): void {
    for (const listener of this.#commitListeners) listener();
  }

  #notifyListeners(): void {
    const statuses = this.status();
    for (const listener of this.#listeners) listener(statuses);
  }
}
