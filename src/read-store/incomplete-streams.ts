export interface IncompleteStream {
  readonly stream: string;
  /** The revision of the first event that is missing. */
  readonly expectedRevision: number;
  /** The revision of the event that came in its place. */
  readonly revision: number;
}

/** Streams that lacked events when the documents of a projection were built from the log. */
export interface IncompleteStreams {
  readonly count: number;
  /** False if there may be more. */
  readonly isExact: boolean;
  readonly first: ReadonlyArray<IncompleteStream>;
}

export const noIncompleteStreams: IncompleteStreams = { count: 0, isExact: true, first: [] };

/** Describes the streams; an empty text for none. */
export function describeIncompleteStreams({ count, isExact, first }: IncompleteStreams): string {
  if (count === 0) return '';
  const number = `${isExact ? '' : 'at least '}${count} ${count === 1 ? 'stream lacks' : 'streams lack'} events`;
  const others = count > first.length ? `, and ${count - first.length} more` : '';
  return `${number}: ${first.map(describeStream).join(', ')}${others}`;
}

function describeStream({ stream, expectedRevision, revision }: IncompleteStream): string {
  if (expectedRevision === 0) return `${stream} begins at revision ${revision}`;
  return `${stream} has revision ${revision} in place of ${expectedRevision}`;
}
