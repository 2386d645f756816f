/** The day (UTC) for which usage counts. @param until when its window ended, RFC 3339 in UTC */
export function dayOf(until: string): string {
  return until.slice(0, 10);
}

/** The first moment of the hour (UTC) for which usage counts. @param until when its window ended, RFC 3339 in UTC */
export function hourOf(until: string): string {
  return `${until.slice(0, 13)}:00:00.000Z`;
}
