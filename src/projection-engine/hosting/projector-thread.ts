import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Leases } from '#leases/leases.ts';
import { serveLeases } from '#leases/leases-over-port.ts';
import type { EndedCommand } from '#mongodb/command-monitor.ts';
import type { FollowedPosition, FollowerInfo } from '#positions/positions.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { BackOff } from '#shared/async/retrying.ts';
import { clock, type Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';

const openTimeoutMs = 30_000;
const closeTimeoutMs = 5000;
const restartLimits = { firstMs: 100, maxMs: 10_000 };
/**
 * Far more than the thread needs: other limits keep the memory of hostile documents well below it. The young generation is a
 * third of V8's default, because a rebuild fills one of any size with garbage, and it counts as used memory.
 */
const heap: ThreadHeap = {
  thread: 'fills the read models',
  maxOldGenerationSizeMb: 1536,
  maxYoungGenerationSizeMb: 32,
};
/** A thread that ran this long failed for a new reason, so the next restart does not wait longer. */
const healthyAfterMs = 30_000;

export interface ProjectorThreadOptions {
  /** Called at each start of the thread, because its result may be transferred to the thread. */
  readonly events: () => ProjectorEvents;
  readonly readStore: ProjectorReadStore;
  /** The leases of this node. Only a thread with a shared read store needs them. */
  readonly leases?: Leases;
  /** The address of the module that exports `projections`. Default: the service's own table. */
  readonly projectionsModule?: URL;
  readonly log: Logger;
}

/** Receives the thread's messages and changes of state. */
export interface ProjectorThreadListener {
  readonly onMessage: (message: FromProjector) => void;
  /** The thread has ended, because it failed or was closed. */
  readonly onExit: () => void;
  /** `state` has changed. */
  readonly onState: () => void;
}

/** The thread that projects the log into the read store. When it fails it is restarted, with back-off. */
export class ProjectorThread {
  readonly #options: ProjectorThreadOptions;
  readonly #listener: Partial<ProjectorThreadListener>;
  #worker: Worker | null = null;
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

  /** Why the thread failed last; null if it never has. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Starts the thread and waits until it works. @throws Error when it cannot start */
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

  /** Waits until the thread has finished its batch and stored its checkpoints, for 5 s at most. */
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

  #startThread(): Worker {
    const { readStore, projectionsModule = defaultProjections } = this.#options;
    const events = this.#options.events();
    const leases = this.#leasesForThread();
    const workerData: ProjectorThreadData = { events, readStore, leases, projectionsModule: projectionsModule.href };
    const worker = new Worker(new URL('./thread-entry.ts', import.meta.url), {
      workerData,
      transferList: leases === null ? [events.wake] : [events.wake, leases],
      resourceLimits: heap,
    });
    this.#worker = worker;
    this.#startedAt = clock.now();
    worker.on('message', (message: FromProjector) => this.#receive(message));
    let reason: string | null = null;
    worker.on('error', (error) => {
      reason = threadError(error, heap).message;
    });
    worker.on('exit', (code) => this.#exited(reason ?? `The thread has ended with code ${code}.`));
    return worker;
  }

  /** Returns the thread's end of a port. It closes when the thread ends. */
  #leasesForThread(): MessagePort | null {
    const { leases } = this.#options;
    if (leases === undefined) return null;
    const { port1, port2 } = new MessageChannel();
    serveLeases(leases, port1);
    return port2;
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

const defaultProjections = new URL('../../../projections/table.ts', import.meta.url);

/** The log that the projector thread follows; `wake` signals new events; it is transferred to the thread. */
export type ProjectorEvents =
  | { readonly kind: 'sqlite'; readonly file: string; readonly wake: MessagePort }
  | {
      readonly kind: 'eventstoredb';
      readonly url: string;
      readonly streamPrefix: string;
      readonly streamKinds: ReadonlyArray<string>;
      readonly wake: MessagePort;
    };

/** The read store that the projector thread fills. */
export type ProjectorReadStore =
  /** Created when it does not exist; its folder must exist. */
  | { readonly kind: 'sqlite'; readonly file: string }
  /** Filled by one node at a time, under a lease; `holder` is this node's name, `urlName` the variable with the URL. */
  | {
      readonly kind: 'mongodb';
      readonly url: string;
      readonly urlName: string;
      /** The most connections of the thread's client. */
      readonly maxPoolSize: number;
      readonly holder: string;
    };

/** The start data of the projector thread. */
export interface ProjectorThreadData {
  readonly events: ProjectorEvents;
  readonly readStore: ProjectorReadStore;
  /** The leases of this node for a shared read store, served by the main thread; it is transferred to the thread. */
  readonly leases: MessagePort | null;
  /** The address of a module that exports `projections`, and `upcast` where events have old shapes. */
  readonly projectionsModule: string;
}

/** A message from the main thread to the projector thread. */
export type ToProjector = { readonly kind: 'close' };

/** A message from the projector thread to the main thread. */
export type FromProjector =
  /** The thread works. All later messages list the projections in this order. */
  | { readonly kind: 'opened'; readonly projections: ReadonlyArray<FollowerInfo> }
  /** Empty: the thread does not run the projections, because another node holds their lease. */
  | { readonly kind: 'positions'; readonly served: ReadonlyArray<ServedPosition> }
  | { readonly kind: 'status'; readonly statuses: ReadonlyArray<ProjectionStatus>; readonly ready: boolean }
  /** Commands of MongoDB that have ended since the last such message, at most once a second unless there are many. */
  | { readonly kind: 'mongodb-commands'; readonly ended: ReadonlyArray<EndedCommand> }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    };

/** Returns the positions of a message of the thread by the names of the projections, which are in the same order. */
export function followedBy(
  names: ReadonlyArray<string>,
  served: ReadonlyArray<ServedPosition>,
): ReadonlyMap<string, FollowedPosition> {
  return new Map(served.map((position, index) => [names[index] ?? '', position]));
}
