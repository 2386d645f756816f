import type { ReadOfLog } from '#domain/shared/log-mark.ts';

/** A node runs the projections and publishes their positions under this lease. */
export const projectionsLease = 'projections';

export interface ServedPosition {
  readonly position: number;
  /** They follow the log: false after the projection has stopped, and until its current version is filled. */
  readonly live: boolean;
  readonly generation: number;
}

/** As the node that runs the projections publishes them. */
export interface ProjectionPositions {
  /** Every projection has seen the end of the log since that node began, or has stopped. */
  readonly ready: boolean;
  readonly projections: ReadonlyArray<ServedPosition & { readonly name: string }>;
  /** Counts the changes of the stored status since that node began, so that a node reads it only after a change. */
  readonly statusChanges: number;
  /** What that node has read of the log. */
  readonly read: ReadOfLog;
}

/** By the read model's name and the generation's number. */
export type Checkpoints = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface PublishedPositions extends ProjectionPositions {
  /** Of the lease under which they were published; a smaller token is out of date. */
  readonly token: number;
  /**
   * The heartbeat: counts every publication, at least one a second. A node whose count stays the same is dead, not
   * idle.
   */
  readonly beat: number;
}

export interface PositionsWriter {
  /**
   * Stores the checkpoints of all generations up to which documents are stored, and replaces what
   * `ReadStoreNotes.positions` returns, with the next `beat`: one write of one record. A position that it publishes is
   * the checkpoint of its generation.
   * @throws UnavailableError; FencedError
   */
  savePositions(positions: ProjectionPositions): Promise<void>;
}
