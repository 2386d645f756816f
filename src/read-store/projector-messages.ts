import type { MessagePort } from 'node:worker_threads';
import type { ServedPosition } from '#read-store/projection-standing.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';

/** What the projector thread is started with. */
export interface ProjectorThreadData {
  readonly eventStoreFile: string;
  readonly readStoreFile: string;
  /** Tells of new events; transferred. */
  readonly wake: MessagePort;
  /** The address of a module that exports `projections`, and `upcast` where events have old shapes. */
  readonly projectionsModule: string;
}

/** A projection as the main thread must know it. */
export interface ProjectionFacts {
  readonly name: string;
  readonly types: ReadonlyArray<string>;
}

/** What the main thread tells the projector thread. */
export type ToProjector =
  | { readonly kind: 'save-keys-last-used'; readonly request: number; readonly times: ReadonlyMap<string, string> }
  | { readonly kind: 'close' };

/** What the projector thread tells the main thread. */
export type FromProjector =
  /** The stores are open; the projections are in the order of all later messages. */
  | { readonly kind: 'opened'; readonly projections: ReadonlyArray<ProjectionFacts> }
  | { readonly kind: 'positions'; readonly served: ReadonlyArray<ServedPosition> }
  | { readonly kind: 'status'; readonly statuses: ReadonlyArray<ProjectionStatus>; readonly ready: boolean }
  | { readonly kind: 'keys-last-used-saved'; readonly request: number; readonly failure: string | null }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    };
