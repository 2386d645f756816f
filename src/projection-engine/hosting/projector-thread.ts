import { Worker } from 'node:worker_threads';
import { BackOff } from '#shared/async/back-off.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import type {
  FromProjector,
  ProjectorEvents,
  ProjectorReadStore,
  ProjectorThreadData,
  ToProjector,
} from './projector-messages.ts';

const openLimitMilliseconds = 30_000;
const closeLimitMilliseconds = 5000;
const restartLimits = { firstMs: 100, longestMs: 10_000 };
/** Far above what the thread needs: what hostile documents may make of it is bounded well below. */
const maxOldGenerationSizeMb = 1536;
/** Half of V8's own choice: a rebuild fills it with garbage however large it is, and it counts as memory used. */
const maxYoungGenerationSizeMb = 48;
/** A thread that lived so long died of something new: the next restart is quick again. */
const healthyMilliseconds = 30_000;

export interface ProjectorThreadOptions {
  /** Asked at each start of the thread: what it gives may be transferred to it. */
  readonly events: () => ProjectorEvents;
  readonly readStore: ProjectorReadStore;
  /** The address of the module that exports `projections`. Default: the service's own table. */
  readonly projectionsModule?: URL;
  readonly log: Log;
}

/** Is told what happens to the thread. */
export interface ProjectorThreadListener {
  readonly onMessage: (message: FromProjector) => void;
  /** It has ended, of itself or because it was closed. */
  readonly onExit: () => void;
  /** `state` has changed. */
  readonly onState: () => void;
}

/** The thread that keeps the read store in step with the log. It is started again, later each time, if it dies. */
export class ProjectorThread {
  readonly #options: ProjectorThreadOptions;
  readonly #listener: Partial<ProjectorThreadListener>;
  #worker: Worker | null = null;
  #failure: string | null = null;
  #startedAt = 0;
  readonly #backOff = new BackOff(restartLimits);
  #restart: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: ProjectorThreadOptions, listener: Partial<ProjectorThreadListener> = {}) {
    this.#options = options;
    this.#listener = listener;
  }

  get state(): 'running' | 'restarting' | 'closed' {
    if (this.#closed) return 'closed';
    return this.#worker === null ? 'restarting' : 'running';
  }

  /** Why it died last; null when it never has. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Starts it, and waits until it works. @throws Error when it cannot begin */
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

  tell(message: ToProjector): void {
    this.#worker?.postMessage(message);
  }

  /** Lets the thread finish its batch and store where it stands; 5 s at most. */
  async close(): Promise<void> {
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#closed = true;
    const worker = this.#worker;
    if (worker === null) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    this.tell({ kind: 'close' });
    const timer = setTimeout(() => void worker.terminate(), closeLimitMilliseconds);
    await exited.finally(() => clearTimeout(timer));
  }

  #startThread(): Worker {
    const { readStore, projectionsModule = defaultProjections } = this.#options;
    const events = this.#options.events();
    const workerData: ProjectorThreadData = { events, readStore, projectionsModule: projectionsModule.href };
    const worker = new Worker(new URL('./thread-entry.ts', import.meta.url), {
      workerData,
      transferList: events.kind === 'sqlite' ? [events.wake] : [],
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
    if (message.kind === 'log') this.#options.log[message.level](message.fields, message.message);
    else this.#listener.onMessage?.(message);
  }

  #exited(code: number): void {
    this.#worker = null;
    if (performance.now() - this.#startedAt > healthyMilliseconds) this.#backOff.succeeded();
    if (!this.#closed) this.#failure ??= `The thread has ended with code ${code}.`;
    this.#listener.onExit?.();
    if (!this.#closed) this.#restartLater(String(this.#failure));
  }

  #restartLater(error: string): void {
    const restartMilliseconds = this.#backOff.failed();
    this.#options.log.error({ error, restartMilliseconds }, 'The projector thread has died and is started again');
    this.#restart = setTimeout(() => this.#startAgain(), restartMilliseconds);
    this.#listener.onState?.();
  }

  #startAgain(): void {
    this.#restart = null;
    try {
      this.#startThread();
      this.#listener.onState?.();
    } catch (error) {
      // The event store gives no port: it is closing, or its own thread has died.
      this.#restartLater(String(error));
    }
  }
}

const defaultProjections = new URL('../../../projections/table.ts', import.meta.url);
