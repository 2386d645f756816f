export interface StreamGap {
  readonly stream: string;
  readonly expectedRevision: number;
  /** The revision of the event that is there instead; null if no later event is visible. */
  readonly foundRevision: number | null;
}

/** The gap in a part that must begin at the revision; null without one. */
export function gapIn(stream: string, fromRevision: number, revisions: ReadonlyArray<number>): StreamGap | null {
  let expectedRevision = fromRevision;
  for (const foundRevision of revisions) {
    if (foundRevision !== expectedRevision) return { stream, expectedRevision, foundRevision };
    expectedRevision += 1;
  }
  return null;
}

/**
 * A stream lacks events that were stored. The rest of the stream is never taken for the whole, and nothing is appended
 * to it.
 */
export class UnreadableStreamError extends Error {
  override readonly name = 'UnreadableStreamError';
  readonly gap: StreamGap;
  /** True if the store has logged the stream, so that its readers do not log it for each request. */
  readonly isLogged: boolean;

  /** @param reason the likely reason, as the end of a sentence */
  constructor(gap: StreamGap, reason: string, isLogged = false) {
    super(`${describeGap(gap)}: ${reason}.`);
    this.gap = gap;
    this.isLogged = isLogged;
  }
}

export function isLoggedByStore(error: unknown): boolean {
  return error instanceof UnreadableStreamError && error.isLogged;
}

function describeGap({ stream, expectedRevision, foundRevision }: StreamGap): string {
  const end = foundRevision === null ? 'on' : `to ${foundRevision - 1}`;
  return `The stream ${stream} lacks its events from revision ${expectedRevision} ${end}`;
}
