/** How the upstream answers a streamed chat: sent to it as the member `pacing` of the body, which gateways pass on. */
export interface Pacing {
  /** From the request to the first content, in ms. */
  readonly firstMs: number;
  /** Between two events, in ms; 0 for all at once. */
  readonly gapMs: number;
  /** Events with content. */
  readonly events: number;
  /** What follows them: a proper end; nothing more for ever; or not even headers are sent, ever. */
  readonly ending: 'end' | 'stall' | 'silence';
}

/** Microseconds by the machine's monotonic clock, which all its processes share. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
