const day = /^\d{4}-\d{2}-\d{2}$/;

/** Converts a day of a command line to its beginning in UTC. Returns any other text unchanged. */
export function dayOrTime(text: string): string {
  return day.test(text) ? `${text}T00:00:00Z` : text;
}
