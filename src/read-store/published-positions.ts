import type { ReadOfLog } from '#domain/shared/log-mark.ts';

/** The lease under which a node runs the projections and publishes their positions. */
export const projectionsLease = 'projections';

/** The position of the documents of one projection that queries read. */
export interface ServedPosition {
  /** The position up to which they contain the log. */
  readonly position: number;
  /** Whether they follow the log: false after the projection has stopped, and until its current version is filled. */
  readonly live: boolean;
  /** The number of their generation. */
  readonly generation: number;
}

/** The positions of the projections, as the node that runs them publishes them. */
export interface ProjectionPositions {
  /** Every projection has seen the end of the log since that node began, or has stopped. */
  readonly ready: boolean;
  readonly projections: ReadonlyArray<ServedPosition & { readonly name: string }>;
  /** Counts the changes of the stored status since that node began, so that a node reads it only after a change. */
  readonly statusChanges: number;
  /** What that node has read of the log. */
  readonly read: ReadOfLog;
}

/** The checkpoints of generations, by the read model's name and the generation's number. */
export type Checkpoints = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The positions that were published last. */
export interface PublishedPositions extends ProjectionPositions {
  /** The fencing token of the lease under which they were published; a smaller token is out of date. */
  readonly token: number;
  /**
   * The heartbeat: counts every publication, at least one a second. A node whose count stays the same is dead, not
   * idle.
   */
  readonly beat: number;
}

/** The writing side of a read store that several nodes share. */
export interface PositionsWriter {
  /**
   * Stores the checkpoints of all generations up to which documents are stored, and replaces what
   * `ReadStoreNotes.positions` returns, with the next `beat`: one write of one record. A position that it publishes is
   * the checkpoint of its generation.
   * @throws UnavailableError; FencedError
   */
  savePositions(positions: ProjectionPositions): Promise<void>;
}
