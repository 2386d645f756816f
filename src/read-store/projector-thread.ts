import { type MessagePort, Worker } from 'node:worker_threads';
import type { Log } from '#read-store/log.ts';
import { PositionWaits, type WaitOutcome } from '#read-store/position-waits.ts';
import type { ServedPosition } from '#read-store/projection-standing.ts';
import type {
  FromProjector,
  ProjectionFacts,
  ProjectorThreadData,
  ToProjector,
} from '#read-store/projector-messages.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { Unavailable } from '#src/unavailable.ts';

const openLimitMilliseconds = 30_000;
const closeLimitMilliseconds = 5000;
const saveLimitMilliseconds = 5000;
const firstRestartMilliseconds = 100;
const longestRestartMilliseconds = 10_000;
/** Far above what the thread needs: what hostile documents may make of it is bounded well below. */
const maxOldGenerationSizeMb = 1536;
/** Half of V8's own choice: a rebuild fills it with garbage however large it is, and it counts as memory used. */
const maxYoungGenerationSizeMb = 48;
/** A thread that lived so long died of something new: the next restart is quick again. */
const healthyMilliseconds = 30_000;

export interface ProjectorOptions {
  readonly eventStoreFile: string;
  /** Gives a new port of the event store's for each start of the thread. */
  readonly wakePort: () => MessagePort;
  /** Made when it is not there; its folder exists. */
  readonly readStoreFile: string;
  /** The address of the module that exports `projections`. Default: the service's own table. */
  readonly projectionsModule?: URL;
  readonly log: Log;
}

/** How the projector stands. */
export interface ProjectorStatus {
  readonly thread: 'running' | 'restarting' | 'closed';
  /** Why the thread died last; null when it never has. */
  readonly failure: string | null;
  /** As last told by the thread, positions to the batch. */
  readonly projections: ReadonlyArray<ProjectionStatus>;
}

/** The main thread's hold on the projector thread. */
export interface Projector {
  /**
   * Waits until queries see a position: until every projection that handles one of these event types and follows the
   * log has passed it. Those that have stopped or were never filled are not waited for, nor is a thread that is down.
   */
  waitFor(position: number, types: ReadonlyArray<string>, timeoutMilliseconds: number): Promise<WaitOutcome>;
  /** Waits until the documents of these projections hold the log up to a position, whatever state they are in. */
  waitForProjections(names: ReadonlyArray<string>, position: number, timeoutMilliseconds: number): Promise<WaitOutcome>;
  status(): ProjectorStatus;
  /** Calls the listener at every change of `status` but positions alone. @returns ends it */
  onStatus(listener: (status: ProjectorStatus) => void): () => void;
  /** Calls the listener whenever documents may have changed, before any wait for that ends. @returns ends it */
  onCommit(listener: () => void): () => void;
  /** Every projection has seen the end of the log since the start, or has stopped. */
  ready(): boolean;
  /** Stores when keys were last used; resolves when it is done. @throws Unavailable */
  saveKeysLastUsed(times: ReadonlyMap<string, string>): Promise<void>;
  /** Lets the thread finish its batch and store where it stands; 5 s at most. */
  close(): Promise<void>;
}

/**
 * Starts the thread that keeps the read store in step with the log. It is started again, later each time, if it dies.
 * @returns when both stores are open
 * @throws Error when the thread cannot begin
 */
export async function startProjector(options: ProjectorOptions): Promise<Projector> {
  const projector = new ThreadedProjector(options);
  await projector.start();
  return projector;
}

interface PendingSave {
  readonly resolve: () => void;
  readonly reject: (error: Unavailable) => void;
}

class ThreadedProjector implements Projector {
  readonly #options: ProjectorOptions;
  readonly #waits = new PositionWaits();
  readonly #listeners = new Set<(status: ProjectorStatus) => void>();
  readonly #commitListeners = new Set<() => void>();
  readonly #saves = new Map<number, PendingSave>();
  #worker: Worker | null = null;
  #facts: ReadonlyArray<ProjectionFacts> = [];
  #statuses: ReadonlyArray<ProjectionStatus> = [];
  /** Told more often than the statuses, in the same order. */
  #served: ReadonlyArray<ServedPosition> = [];
  #ready = false;
  #failure: string | null = null;
  #startedAt = 0;
  #restartMilliseconds = firstRestartMilliseconds;
  #restart: NodeJS.Timeout | null = null;
  #requests = 0;
  #closed = false;

  constructor(options: ProjectorOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const worker = this.#startThread();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onMessage = (message: FromProjector) => {
      if (message.kind === 'opened') resolve();
    };
    const onExit = () => reject(new Error(`The projections could not be started: ${this.#failure}`));
    const timer = setTimeout(onExit, openLimitMilliseconds);
    worker.on('message', onMessage).on('exit', onExit);
    try {
      await promise;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      worker.off('message', onMessage).off('exit', onExit);
    }
  }

  waitFor(position: number, types: ReadonlyArray<string>, timeoutMilliseconds: number): Promise<WaitOutcome> {
    const handles = ({ types: handled }: ProjectionFacts) => types.some((type) => handled.includes(type));
    return this.#waits.wait(this.#places(handles), position, false, timeoutMilliseconds);
  }

  waitForProjections(
    names: ReadonlyArray<string>,
    position: number,
    timeoutMilliseconds: number,
  ): Promise<WaitOutcome> {
    return this.#waits.wait(
      this.#places(({ name }) => names.includes(name)),
      position,
      true,
      timeoutMilliseconds,
    );
  }

  status(): ProjectorStatus {
    const thread = this.#closed ? 'closed' : this.#worker === null ? 'restarting' : 'running';
    const projections = this.#statuses.map((status, index) => ({
      ...status,
      position: this.#served[index]?.position ?? status.position,
    }));
    return { thread, failure: this.#failure, projections };
  }

  onCommit(listener: () => void): () => void {
    this.#commitListeners.add(listener);
    return () => this.#commitListeners.delete(listener);
  }

  onStatus(listener: (status: ProjectorStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  ready(): boolean {
    return this.#ready && this.#worker !== null;
  }

  saveKeysLastUsed(times: ReadonlyMap<string, string>): Promise<void> {
    if (this.#worker === null) return Promise.reject(new Unavailable('The projector thread is down.'));
    this.#requests += 1;
    const request = this.#requests;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new Unavailable('The projector thread does not answer.')),
      saveLimitMilliseconds,
    );
    this.#saves.set(request, { resolve, reject });
    this.#tell({ kind: 'save-keys-last-used', request, times });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#saves.delete(request);
    });
  }

  async close(): Promise<void> {
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#closed = true;
    const worker = this.#worker;
    if (worker !== null) {
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      this.#tell({ kind: 'close' });
      const timer = setTimeout(() => void worker.terminate(), closeLimitMilliseconds);
      await exited.finally(() => clearTimeout(timer));
    }
    this.#waits.close();
  }

  #startThread(): Worker {
    const { eventStoreFile, readStoreFile, wakePort, projectionsModule = defaultProjections } = this.#options;
    const wake = wakePort();
    const workerData: ProjectorThreadData = {
      eventStoreFile,
      readStoreFile,
      wake,
      projectionsModule: projectionsModule.href,
    };
    const worker = new Worker(new URL('../projector.ts', import.meta.url), {
      workerData,
      transferList: [wake],
      resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb },
    });
    this.#worker = worker;
    this.#startedAt = performance.now();
    worker.on('message', (message: FromProjector) => this.#take(message));
    worker.on('error', (error) => {
      this.#failure = error instanceof Error ? error.message : String(error);
    });
    worker.on('exit', (code) => this.#exited(code));
    return worker;
  }

  #take(message: FromProjector): void {
    switch (message.kind) {
      case 'positions':
        this.#tellCommit();
        this.#served = message.served;
        this.#waits.update(message.served);
        break;
      case 'status':
        // A rebuild was swapped in, perhaps at the position where the old documents stood.
        this.#tellCommit();
        this.#statuses = message.statuses;
        this.#ready = message.ready;
        this.#tellListeners();
        break;
      case 'opened':
        this.#facts = message.projections;
        break;
      case 'keys-last-used-saved':
        this.#settleSave(message.request, message.failure);
        break;
      case 'log':
        this.#options.log[message.level](message.fields, message.message);
    }
  }

  #exited(code: number): void {
    this.#worker = null;
    this.#tellCommit();
    for (const { reject } of this.#saves.values()) reject(new Unavailable('The projector thread has ended.'));
    if (this.#closed) return;
    this.#failure ??= `The thread has ended with code ${code}.`;
    this.#ready = false;
    // Nobody follows the log now: a command must not wait for what will not come.
    this.#waits.update([]);
    this.#restartLater(this.#failure);
  }

  #restartLater(error: string): void {
    const lived = performance.now() - this.#startedAt;
    if (lived > healthyMilliseconds) this.#restartMilliseconds = firstRestartMilliseconds;
    const fields = { error, restartMilliseconds: this.#restartMilliseconds };
    this.#options.log.error(fields, 'The projector thread has died and is started again');
    this.#restart = setTimeout(() => this.#startAgain(), this.#restartMilliseconds);
    this.#restartMilliseconds = Math.min(this.#restartMilliseconds * 2, longestRestartMilliseconds);
    this.#tellListeners();
  }

  #startAgain(): void {
    this.#restart = null;
    try {
      this.#startThread();
      this.#tellListeners();
    } catch (error) {
      // The event store gives no port: it is closing, or its own thread has died.
      this.#restartLater(String(error));
    }
  }

  #settleSave(request: number, failure: string | null): void {
    const save = this.#saves.get(request);
    if (failure === null) save?.resolve();
    else save?.reject(new Unavailable(failure));
  }

  #tellCommit(): void {
    for (const listener of this.#commitListeners) listener();
  }

  #tellListeners(): void {
    const status = this.status();
    for (const listener of this.#listeners) listener(status);
  }

  #places(wanted: (facts: ProjectionFacts) => boolean): ReadonlyArray<number> {
    return this.#facts.flatMap((facts, index) => (wanted(facts) ? [index] : []));
  }

  #tell(message: ToProjector): void {
    this.#worker?.postMessage(message);
  }
}

const defaultProjections = new URL('../../projections/table.ts', import.meta.url);
