import type { ByteHold, ByteShortage } from '#application/access/byte-budget.ts';

/** The time limits of a body that replace the server's limit of a whole request. */
export interface ArrivalLimits {
  /** Between two of its pieces. */
  readonly idleMs: number;
  /** From the start of the reading to its end. */
  readonly totalMs: number;
}

/**
 * How a body arrived: completely; until the reader stopped; too slowly; evicted to make room for others; or until there
 * was no room left for more of it.
 */
export type Arrival = 'whole' | 'stopped' | 'too-slow' | 'evicted' | { readonly shortage: ByteShortage };

/**
 * Receives a piece of a body. Returns whether to continue. While a returned promise is pending, no further piece comes,
 * and the sender does not count as idle.
 */
export type TakePiece = (piece: Buffer) => boolean | Promise<boolean>;

/** A request's body from a connection or from memory. It is read once, by one of the two methods. */
export interface BodySource {
  /** Whether the request has a body. */
  readonly isPresent: boolean;
  /** The announced length in bytes; 0 without one. */
  readonly announcedBytes: number;
  /**
   * Returns a body that is completely in memory.
   * @returns null if it must be received; then nothing is read
   */
  readonly takeBuffered: () => Buffer | null;
  /**
   * Receives the body piece by piece.
   * @param hold counts the bytes; until the arrival ends it may be evicted
   * @throws ClientDisconnectedError, and the errors of `take`; never before a promise of `take` has settled
   */
  readonly receive: (limits: ArrivalLimits, hold: ByteHold, take: TakePiece) => Promise<Arrival>;
}
