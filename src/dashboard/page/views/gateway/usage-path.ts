/** What usage is shown by. */
export type Group = 'model' | 'target' | 'key' | 'project' | 'day';

/** What figures are narrowed to; of everything that the key reaches where neither is there. */
export interface Narrowed {
  readonly projectId?: string;
  readonly organizationId?: string | null;
}

/** The parameter that narrows figures: to the project, else to the organization. */
export function narrowing({ projectId, organizationId }: Narrowed): Readonly<Record<string, string>> {
  if (projectId) return { projectId };
  return organizationId ? { organizationId } : {};
}

/**
 * The address of the usage of a time up to now. The answer is of whole hours, of more than that time: usage is kept by
 * the hour.
 */
export function usagePath(rangeMs: number, group: Group, narrowed: Narrowed, now: number): string {
  const from = new Date(now - rangeMs).toISOString();
  const until = new Date(now).toISOString();
  return `/v1/usage?${new URLSearchParams({ from, until, groupBy: group, ...narrowing(narrowed) })}`;
}
