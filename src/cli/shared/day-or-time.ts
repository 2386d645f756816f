const day = /^\d{4}-\d{2}-\d{2}$/;

/** A time as a command line has it: a day alone is where it begins, in UTC. Any other text is given back as it is. */
export function dayOrTime(text: string): string {
  return day.test(text) ? `${text}T00:00:00Z` : text;
}
