/** What a client asks the probe in a service, a line of JSON each. */
export type ProbeCommand = { readonly ask: 'begin'; readonly maxHeldBytes: number } | { readonly ask: 'end' };

/** What the probe has measured between `begin` and `end`. */
export interface ProbeReport {
  /** Maximum processor time of a turn of the event loop, without the pauses of the garbage collector. */
  readonly longestMs: number;
  /** The pauses of the garbage collector in turns of at least 2 ms, together. */
  readonly pausedMs: number;
  /** Maximum bytes above idle: exact beyond the asked maximum, an upper bound below it. */
  readonly heldBytes: number;
}
