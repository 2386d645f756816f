import type { StreamHistory } from '#application/history/stream-history.ts';
import type { CollectionReader } from '#application/operations/paging.ts';
import { maxPageBytes, maxPageItems } from '#application/operations/paging.ts';
import { flow } from '#domain/flow/flow.ts';
import type { AgentProfileFlowDocument } from '#projections/agent-profile-flows.ts';
import type { Page, PageKey, PageRequest } from '#read-store/read-store.ts';

/** Finds the flows that had an agent profile at a time, by their streams, in the order in which they first had it. */
export async function flowsAsOf(
  history: StreamHistory,
  agentProfileFlows: CollectionReader,
  agentProfileId: string,
  time: string,
): Promise<ReadonlyArray<string>> {
  const found: string[] = [];
  for await (const flowId of flowsThatEverHad(agentProfileFlows, agentProfileId)) {
    const { state } = await history.at(flow, flowId, await history.revisionAt(flow, flowId, time));
    if (flow.isLive(state, flowId) && state?.record.agentProfileId === agentProfileId) found.push(flowId);
  }
  return found;
}

async function* flowsThatEverHad(collection: CollectionReader, agentProfileId: string) {
  let after: PageKey | null = null;
  do {
    const request: PageRequest = { limit: maxPageItems, maxBytes: maxPageBytes, ...(after === null ? {} : { after }) };
    const page: Page<AgentProfileFlowDocument> = await collection.list<AgentProfileFlowDocument>(
      { agentProfileId },
      request,
    );
    for (const { value } of page.documents) yield value.flowId;
    after = page.next;
  } while (after !== null);
}
