/** How far something is in the log at a moment. */
export interface ProgressSample {
  readonly position: number;
  /** Where the log ends; null where the event store did not say so. */
  readonly logEnd: number | null;
  /** On any clock. */
  readonly atMs: number;
}

/**
 * How far something is, in words: its share of the log, its rate, and how long it needs for the rest.
 * @param before of the same, some time earlier
 */
export function describeProgress(name: string, state: string, before: ProgressSample, after: ProgressSample): string {
  const { position, logEnd } = after;
  if (logEnd === null)
    return `${name} ${state} at position ${position}; the event store does not say where the log ends`;
  const place = `${name} ${state} at position ${position} of ${logEnd}`;
  const left = logEnd - position;
  if (left <= 0) return `${place}, 100%`;
  const percent = Math.floor((100 * position) / logEnd);
  return `${place}, ${percent}% (${paceOf(left, before, after)})`;
}

function paceOf(left: number, before: ProgressSample, after: ProgressSample): string {
  const seconds = (after.atMs - before.atMs) / 1000;
  const perSecond = seconds > 0 ? (after.position - before.position) / seconds : 0;
  if (perSecond <= 0) return 'it does not move';
  return `${Math.round(perSecond)} positions/s, ${Math.ceil(left / perSecond)} s left`;
}
