import type { ReadOfLog } from '#domain/shared/log-mark.ts';

/** The lease under which a node runs the projections and publishes their positions. */
export const projectionsLease = 'projections';

export interface ServedPosition {
  readonly position: number;
  /** True if it follows the log: false after the projection has stopped, and until its current version is filled. */
  readonly live: boolean;
  readonly generation: number;
}

/** The positions as the node that runs the projections publishes them. */
export interface ProjectionPositions {
  /** True if every projection has seen the end of the log since that node began, or has stopped. */
  readonly ready: boolean;
  readonly projections: ReadonlyArray<ServedPosition & { readonly name: string }>;
  /** Counts the changes of the stored status since that node began, so that a node reads it only after a change. */
  readonly statusChanges: number;
  /** What that node has read of the log. */
  readonly read: ReadOfLog;
}

/** Checkpoints by the read model's name and the generation's number. */
export type Checkpoints = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface PublishedPositions extends ProjectionPositions {
  /** The token of the lease under which they were published; a smaller token is out of date. */
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
