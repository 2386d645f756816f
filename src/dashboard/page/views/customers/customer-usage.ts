import { useData } from '#dashboard/page/app/data/use-data.ts';

export interface UsageOfProject {
  readonly calls: number;
  readonly errors: number;
  readonly cost: number | null;
}

/** Null if the key may not read usage or it is not read yet. */
export type UsageByProject = ReadonlyMap<string, UsageOfProject> | null;

interface Row extends UsageOfProject {
  readonly project?: string | null;
}

const dayMs = 86_400_000;
const refreshMs = 60_000;

/** Reads the usage of the last 24 hours and of the last 30 days. */
export function useUsageByProject(): { readonly day: UsageByProject; readonly month: UsageByProject } {
  return { day: useUsageOf(1, 'hour'), month: useUsageOf(30, 'day') };
}

function useUsageOf(days: number, unit: 'hour' | 'day'): UsageByProject {
  const step = unit === 'hour' ? dayMs / 24 : dayMs;
  const until = Math.ceil(Date.now() / step) * step;
  const from = new Date(until - days * dayMs).toISOString();
  const path = `/v1/usage?from=${from}&until=${new Date(until).toISOString()}&groupBy=project`;
  const { value } = useData<{ rows: ReadonlyArray<Row> }>(path, { kinds: [], everyMs: refreshMs });
  if (value === null) return null;
  return new Map(value.rows.flatMap((row) => (row.project ? [[row.project, row] as const] : [])));
}
