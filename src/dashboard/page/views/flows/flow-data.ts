import { getAll, type Tagged } from '#dashboard/page/api/api.ts';
import type { Flow, FlowVersion, HistoryEvent, PhoneNumber } from '#dashboard/page/api/records.ts';
import { type Data, useData } from '#dashboard/page/app/data/use-data.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

const flowKinds = ['flow', 'flow-version'];
const maxHistory = 5_000;
const maxVersions = 5_000;

/** Reads a flow in its current or a past state. */
export function useFlow(id: string, asOf: string | null): Data<Tagged<Flow>> {
  const { api } = useSession();
  const path = withMoment(`/v1/flows/${id}`, asOf);
  return useData(`${path} with its ETag`, { kinds: flowKinds }, (signal) => api.getTagged<Flow>(path, signal));
}

/** Reads the versions, newest first. */
export function useFlowVersions(id: string, asOf: string | null): Data<ReadonlyArray<FlowVersion>> {
  const { api } = useSession();
  const path = withMoment(`/v1/flows/${id}/versions`, asOf);
  return useData(path, { kinds: flowKinds }, async (signal) => {
    const { items } = await getAll<FlowVersion>(api, path, 'versions', { maxItems: maxVersions, signal });
    return [...items].sort((one, other) => other.version - one.version);
  });
}

/** Reads the whole history, newest first. */
export function useFlowHistory(id: string): Data<ReadonlyArray<HistoryEvent>> {
  const { api } = useSession();
  const path = `/v1/flows/${id}/history`;
  return useData(path, { kinds: flowKinds }, async (signal) => {
    const { items } = await getAll<HistoryEvent>(api, path, 'events', { maxItems: maxHistory, signal });
    return [...items].reverse();
  });
}

export function useNumbersOf(flow: Flow | null): Data<{ readonly phoneNumbers: ReadonlyArray<PhoneNumber> }> {
  return useData(flow === null ? null : `/v1/projects/${flow.projectId}/phone-numbers?flowId=${flow.id}`, {
    kinds: ['phone-number'],
  });
}

function withMoment(path: string, asOf: string | null): string {
  return asOf === null ? path : `${path}?asOf=${encodeURIComponent(asOf)}`;
}
