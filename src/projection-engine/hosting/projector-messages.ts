import type { MessagePort } from 'node:worker_threads';
import type { StoredSnapshot } from '#application/snapshots/snapshot-store.ts';
import type { ServedPosition } from '#projection-engine/projection-runtime.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';

/** The log that the projector thread follows. */
export type ProjectorEvents =
  /** `wake` tells of new events; transferred. */
  | { readonly kind: 'sqlite'; readonly file: string; readonly wake: MessagePort }
  | { readonly kind: 'eventstoredb'; readonly url: string };

/** The read store that the projector thread fills. */
export type ProjectorReadStore =
  /** Made when it is not there; its folder exists. */
  | { readonly kind: 'sqlite'; readonly file: string }
  /** Filled under a lease, so by one node at a time; `holder` names this one. */
  | { readonly kind: 'mongodb'; readonly url: string; readonly holder: string };

/** What the projector thread is started with. */
export interface ProjectorThreadData {
  readonly events: ProjectorEvents;
  readonly readStore: ProjectorReadStore;
  /** The address of a module that exports `projections`, and `upcast` where events have old shapes. */
  readonly projectionsModule: string;
}

/** A projection as the main thread must know it. */
export interface ProjectionInfo {
  readonly name: string;
  readonly types: ReadonlyArray<string>;
}

/** What the main thread has the projector thread store beside the read models. */
export type ToSave =
  | { readonly kind: 'save-keys-last-used'; readonly times: ReadonlyMap<string, string> }
  | { readonly kind: 'save-snapshot'; readonly snapshot: StoredSnapshot };

/** What the main thread tells the projector thread. */
export type ToProjector =
  /** To an embedded read store alone: what several nodes share, each writes to. */
  ({ readonly request: number } & ToSave) | { readonly kind: 'close' };

/** What the projector thread tells the main thread. */
export type FromProjector =
  /** It works; the projections are in the order of all later messages. */
  | { readonly kind: 'opened'; readonly projections: ReadonlyArray<ProjectionInfo> }
  | { readonly kind: 'positions'; readonly served: ReadonlyArray<ServedPosition> }
  | { readonly kind: 'status'; readonly statuses: ReadonlyArray<ProjectionStatus>; readonly ready: boolean }
  | { readonly kind: 'saved'; readonly request: number; readonly failure: string | null }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    };
