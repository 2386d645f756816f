import type { ServedPosition } from '#projection-engine/projection-runtime.ts';

/** Where the projections stand, as the node that runs them tells the others. */
export interface ProjectionPositions {
  /** Every projection has seen the end of the log since that node began, or has stopped. */
  readonly ready: boolean;
  readonly projections: ReadonlyArray<ServedPosition & { readonly name: string }>;
}

/** What was told last. */
export interface PublishedPositions extends ProjectionPositions {
  /** The token of the lease under which it was told: what an older one tells is out of date. */
  readonly token: number;
  /** Counts up with every telling, at least once a second: a node whose beat stands still is dead, not idle. */
  readonly beat: number;
}

/** The writing side of a read store that several nodes share. */
export interface PositionsWriter {
  /** Replaces what `PositionsReader.positions` tells, with the next beat. @throws UnavailableError; FencedError */
  savePositions(positions: ProjectionPositions): Promise<void>;
}

/** The reading side of a read store that several nodes share. */
export interface PositionsReader {
  /** As last told by the node that runs the projections; null when none ever has. @throws UnavailableError */
  positions(): Promise<PublishedPositions | null>;
}
