/** How the upstream answers a streamed chat. The body's member `pacing` holds it, and gateways forward that member. */
export interface Pacing {
  /** The time from the request to the first content in ms. */
  readonly firstMs: number;
  /** The pause between two events in ms; 0 sends all together. */
  readonly gapMs: number;
  /** The number of events with content. */
  readonly events: number;
  /** The end of the answer: a proper end, nothing after the content, or no headers at all. */
  readonly ending: 'end' | 'stall' | 'silence';
}

/** Returns the microseconds of the machine's monotonic clock, which all its processes share. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
