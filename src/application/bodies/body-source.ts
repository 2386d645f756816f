import type { ByteHold, ByteShortage } from '#application/access/byte-budget.ts';

/** How long a body may take that has limits of its own, and not the server's for a whole request. */
export interface ArrivalLimits {
  /** Between two of its pieces. */
  readonly idleMs: number;
  /** From the start of the reading to its end. */
  readonly totalMs: number;
}

/**
 * How a body came: whole; until the reader wanted no more; too slowly; evicted to make room for others; or until there
 * was no room left for more of it.
 */
export type Arrival = 'whole' | 'stopped' | 'too-slow' | 'evicted' | { readonly shortage: ByteShortage };

/**
 * Takes a piece of a body. Returns whether more is wanted. A promise holds the next piece back, and until it resolves
 * the sender does not count as idle.
 */
export type TakePiece = (piece: Buffer) => boolean | Promise<boolean>;

/** A request's body, wherever it comes from: a connection, or memory. It is read once, by one of the two methods. */
export interface BodySource {
  /** Whether the request has a body. */
  readonly isPresent: boolean;
  /** The length in bytes that the request announces; 0 where it announces none. */
  readonly announcedBytes: number;
  /** Takes a body that is in memory as a whole. @returns null where it must be received; nothing is read then */
  readonly takeBuffered: () => Buffer | null;
  /**
   * Receives the body piece by piece.
   * @param hold counts the bytes; until the arrival ends it may be evicted
   * @throws ClientDisconnectedError, and whatever `take` rejects with; never before a promise of `take` has settled
   */
  readonly receive: (limits: ArrivalLimits, hold: ByteHold, take: TakePiece) => Promise<Arrival>;
}
