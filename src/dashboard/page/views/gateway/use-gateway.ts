import { type Data, useData } from '#dashboard/page/app/data/use-data.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import type { GatewayReport } from '#dashboard/page/views/gateway/gateway-report.ts';
import { type Narrowed, tenantParameters } from '#dashboard/page/views/gateway/usage-path.ts';

const hourMs = 3_600_000;

/** The ranges that the user can choose. */
export const ranges = [
  { value: '1h', text: '1 h', ms: hourMs },
  { value: '24h', text: '24 h', ms: 24 * hourMs },
  { value: '7d', text: '7 d', ms: 7 * 24 * hourMs },
  { value: '30d', text: '30 d', ms: 30 * 24 * hourMs },
] as const;

export type TimeRange = (typeof ranges)[number];

/** The range in the address; the default without one. */
export function rangeIn(search: URLSearchParams): TimeRange {
  return ranges.find(({ value }) => value === search.get('range')) ?? ranges[1];
}

export function pickRange(value: string): void {
  setSearch({ range: value === ranges[1].value ? null : value });
}

const refreshMs = 10_000;

/**
 * Reads the figures for everything that the key has access to, or for one project or organization.
 * @param range null to read nothing
 */
export function useGateway(range: TimeRange | null, narrowed: Narrowed): Data<GatewayReport> {
  const { api } = useSession();
  const key = range === null ? null : `gateway ${range.value} ${Object.values(tenantParameters(narrowed))}`;
  return useData(key, { kinds: [], everyMs: refreshMs }, (signal) => {
    const until = Date.now();
    const query = new URLSearchParams({
      from: new Date(until - (range?.ms ?? 0)).toISOString(),
      until: new Date(until).toISOString(),
      ...tenantParameters(narrowed),
    });
    return api.get<GatewayReport>(`/v1/dashboard/gateway?${query}`, signal);
  });
}
