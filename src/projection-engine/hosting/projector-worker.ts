import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Leases } from '#leases/leases.ts';
import { serveLeases } from '#leases/leases-over-port.ts';
import type { ThreadHeap } from '#shared/memory/thread-heap.ts';
import type {
  FromProjector,
  ProjectorEvents,
  ProjectorReadStore,
  ProjectorThreadData,
  ToProjector,
} from './projector-messages.ts';

export interface ProjectorWorkerOptions {
  /** Called at each start of the thread, because its result may be transferred to the thread. */
  readonly events: () => ProjectorEvents;
  readonly readStore: ProjectorReadStore;
  /** Only a thread with a shared read store needs them. */
  readonly leases?: Leases;
  /** The module that exports `projections`. Default: the service's own table. */
  readonly projectionsModule?: URL;
}

export interface ProjectorWorker {
  on(event: 'message', listener: (message: FromProjector) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'exit', listener: (code: number) => void): this;
  once(event: 'exit', listener: (code: number) => void): this;
  off(event: 'message', listener: (message: FromProjector) => void): this;
  off(event: 'exit', listener: (code: number) => void): this;
  postMessage(message: ToProjector): void;
  terminate(): Promise<unknown>;
}

/**
 * Far more than the thread needs: other limits keep the memory of hostile documents well below it. The young generation is a
 * third of V8's default, because a rebuild fills one of any size with garbage, and it counts as used memory.
 */
export const projectorHeap: ThreadHeap = {
  thread: 'fills the read models',
  maxOldGenerationSizeMb: 1536,
  maxYoungGenerationSizeMb: 32,
};

const defaultProjections = new URL('../../../projections/table.ts', import.meta.url);

/** @throws Error if the event store returns no port */
export function startProjectorWorker(options: ProjectorWorkerOptions): ProjectorWorker {
  const { readStore, projectionsModule = defaultProjections } = options;
  const events = options.events();
  const leases = portToLeases(options.leases);
  const workerData: ProjectorThreadData = { events, readStore, leases, projectionsModule: projectionsModule.href };
  return new Worker(new URL('./thread-entry.ts', import.meta.url), {
    workerData,
    transferList: leases === null ? [events.wake] : [events.wake, leases],
    resourceLimits: projectorHeap,
  });
}

/** A port to the leases, which closes when the thread ends. */
function portToLeases(leases: Leases | undefined): MessagePort | null {
  if (leases === undefined) return null;
  const { port1, port2 } = new MessageChannel();
  serveLeases(leases, port1);
  return port2;
}
