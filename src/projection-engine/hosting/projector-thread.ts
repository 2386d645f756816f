import type { FollowedPosition } from '#positions/positions.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { clock, type Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { threadError } from '#shared/memory/thread-heap.ts';
import type { FromProjector, ToProjector } from './projector-messages.ts';
import {
  type ProjectorWorker,
  type ProjectorWorkerOptions,
  projectorHeap,
  startProjectorWorker,
} from './projector-worker.ts';

const openTimeoutMs = 30_000;
/** Time limit of a close. The whole node stops in 5 s. */
const closeTimeoutMs = 4_000;
const restartLimits = { firstMs: 100, maxMs: 10_000 };
/** A thread that ran this long failed for a new reason, so the next restart does not wait longer. */
const healthyAfterMs = 30_000;

export interface ProjectorThreadOptions extends ProjectorWorkerOptions {
  /** Default: starts a thread of the machine. */
  readonly startWorker?: (options: ProjectorWorkerOptions) => ProjectorWorker;
  readonly log: Logger;
}

export interface ProjectorThreadListener {
  readonly onMessage: (message: FromProjector) => void;
  /** Called when the thread failed or was closed. */
  readonly onExit: () => void;
  /** Called when `state` has changed. */
  readonly onState: () => void;
}

/** A thread that is restarted after a failure, with back-off. */
export class ProjectorThread {
  readonly #options: ProjectorThreadOptions;
  readonly #listener: Partial<ProjectorThreadListener>;
  #worker: ProjectorWorker | null = null;
  #failure: string | null = null;
  #startedAt = 0;
  readonly #backOff = new BackOff(restartLimits);
  #restart: Timer | null = null;
  #closed = false;

  constructor(options: ProjectorThreadOptions, listener: Partial<ProjectorThreadListener> = {}) {
    this.#options = options;
    this.#listener = listener;
  }

  get state(): 'running' | 'restarting' | 'closed' {
    if (this.#closed) return 'closed';
    return this.#worker === null ? 'restarting' : 'running';
  }

  /** The last failure; null if the thread has never failed. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Waits until the thread works. @throws Error when it cannot start */
  async start(): Promise<void> {
    const worker = this.#startThread();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onMessage = (message: FromProjector) => {
      if (message.kind === 'opened') resolve();
    };
    const onExit = () => reject(new Error(`The projections could not be started: ${this.#failure}`));
    const timer = clock.setTimeout(onExit, openTimeoutMs);
    worker.on('message', onMessage).on('exit', onExit);
    try {
      await promise;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clock.clearTimeout(timer);
      worker.off('message', onMessage).off('exit', onExit);
    }
  }

  post(message: ToProjector): void {
    this.#worker?.postMessage(message);
  }

  /** Waits until the thread has finished its batch and stored its checkpoints, for 4 s at most. */
  async close(): Promise<void> {
    if (this.#restart !== null) clock.clearTimeout(this.#restart);
    this.#closed = true;
    const worker = this.#worker;
    if (worker === null) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    this.post({ kind: 'close' });
    const timer = clock.setTimeout(() => void worker.terminate(), closeTimeoutMs);
    await exited.finally(() => clock.clearTimeout(timer));
  }

  #startThread(): ProjectorWorker {
    const { startWorker = startProjectorWorker } = this.#options;
    const worker = startWorker(this.#options);
    this.#worker = worker;
    this.#startedAt = clock.now();
    worker.on('message', (message: FromProjector) => this.#receive(message));
    let reason: string | null = null;
    worker.on('error', (error) => {
      reason = threadError(error, projectorHeap).message;
    });
    worker.on('exit', (code) => this.#exited(reason ?? `The thread has ended with code ${code}.`));
    return worker;
  }

  #receive(message: FromProjector): void {
    if (message.kind === 'log') this.#options.log[message.level](message.fields, message.message);
    else this.#listener.onMessage?.(message);
  }

  #exited(reason: string): void {
    this.#worker = null;
    if (clock.now() - this.#startedAt > healthyAfterMs) this.#backOff.succeeded();
    if (!this.#closed) this.#failure = reason;
    this.#listener.onExit?.();
    if (!this.#closed) this.#restartLater(reason);
  }

  #restartLater(error: string): void {
    const restartMs = this.#backOff.failed();
    this.#options.log.error({ error, restartMs }, 'The projector thread has failed and is started again');
    this.#restart = clock.setTimeout(() => this.#startAgain(), restartMs);
    this.#listener.onState?.();
  }

  #startAgain(): void {
    this.#restart = null;
    try {
      this.#startThread();
      this.#listener.onState?.();
    } catch (error) {
      // The event store returned no port: it is closing, or its own thread has failed.
      this.#restartLater(String(error));
    }
  }
}

/** The followed positions. The names are in the order of the positions. */
export function followedBy(
  names: ReadonlyArray<string>,
  served: ReadonlyArray<ServedPosition>,
): ReadonlyMap<string, FollowedPosition> {
  return new Map(served.map((position, index) => [names[index] ?? '', position]));
}
