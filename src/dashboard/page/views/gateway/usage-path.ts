export type UsageGrouping = 'model' | 'target' | 'key' | 'project' | 'endpoint' | 'day';

/** A filter. Without one, figures cover everything that the key has access to. */
export interface Narrowed {
  readonly projectId?: string;
  readonly organizationId?: string | null;
}

/** The parameters for the project, or otherwise for the organization. */
export function tenantParameters({ projectId, organizationId }: Narrowed): Readonly<Record<string, string>> {
  if (projectId) return { projectId };
  return organizationId ? { organizationId } : {};
}

/** The answer covers whole hours and so more than that time, because usage is stored by the hour. */
export function usagePath(rangeMs: number, group: UsageGrouping, narrowed: Narrowed, now: number): string {
  const from = new Date(now - rangeMs).toISOString();
  const until = new Date(now).toISOString();
  return `/v1/usage?${new URLSearchParams({ from, until, groupBy: group, ...tenantParameters(narrowed) })}`;
}
