import type { MessagePort } from 'node:worker_threads';
import type { EndedCommand } from '#mongodb/command-monitor.ts';
import type { FollowerInfo } from '#positions/positions.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';

/** Where the thread reads events. `wake` signals new ones; it is transferred to the thread. */
export type ProjectorEvents =
  | { readonly kind: 'sqlite'; readonly file: string; readonly wake: MessagePort }
  | {
      readonly kind: 'eventstoredb';
      readonly url: string;
      readonly streamPrefix: string;
      readonly streamKinds: ReadonlyArray<string>;
      readonly wake: MessagePort;
    };

export type ProjectorReadStore =
  /** A SQLite file, which is created when it does not exist; its folder must exist. */
  | { readonly kind: 'sqlite'; readonly file: string }
  /**
   * A shared store, filled by one node at a time, under a lease; `holder` is this node's name, `urlName` the variable
   * with the URL.
   */
  | {
      readonly kind: 'mongodb';
      readonly url: string;
      readonly urlName: string;
      readonly maxPoolSize: number;
      readonly holder: string;
    };

export interface ProjectorThreadData {
  readonly events: ProjectorEvents;
  readonly readStore: ProjectorReadStore;
  /** The leases of this node for a shared read store, served by the main thread; it is transferred to the thread. */
  readonly leases: MessagePort | null;
  /** The module that exports `projections`, and `upcast` where events have old shapes. */
  readonly projectionsModule: string;
}

export type ToProjector = { readonly kind: 'close' };

export type FromProjector =
  /** The thread works. All later messages list the projections in this order. */
  | { readonly kind: 'opened'; readonly projections: ReadonlyArray<FollowerInfo> }
  /**
   * The positions. They are empty if the thread does not run the projections, because another node holds their lease.
   */
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
