/** The progress of something in the log at a moment. */
export interface ProgressSample {
  readonly position: number;
  /** The end of the log; null if the event store did not report it. */
  readonly logEnd: number | null;
  /** On any clock. */
  readonly atMs: number;
}

/**
 * Describes progress: the share of the log, the rate, and the time for the rest.
 * @param before an earlier sample
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
