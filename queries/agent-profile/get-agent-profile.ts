import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type AsOfInput, asOfInput, type PastReadName, pastReadNames, recordAsOf } from '#application/history/as-of.ts';
import type { StreamHistory } from '#application/history/stream-history.ts';
import { get } from '#application/operations/operation.ts';
import { type CollectionReader, maxPageBytes, maxPageItems } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { projectAgentProfiles as entity } from '#domain/agent-profile/agent-profile.ts';
import { agentProfileHistory } from '#domain/agent-profile/history.ts';
import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flow } from '#domain/flow/flow.ts';
import { type AgentProfileFlowDocument, agentProfileFlows } from '#projections/agent-profile-flows.ts';
import { type AgentProfileDocument, agentProfiles } from '#projections/agent-profiles.ts';
import type { DocumentPage, PageKey, PageRequest } from '#read-store/read-store.ts';

type Input = AsOfInput & { readonly agentProfileId: string };

const notFound = 'agent-profile-not-found';

export const getAgentProfile = query<Input, AgentProfileDocument, AgentProfileRecord, 'flows', PastReadName>({
  about: {
    name: 'get_agent_profile',
    summary: 'Read an agent profile',
    description:
      'As of a time, `flowIds` are the flows that had the profile then. As of a revision, they are the flows of the request that set them.',
    group: 'Agent profiles',
    example: { output: AgentProfileRecord.example },
  },
  http: get('/v1/agent-profiles/:agentProfileId'),
  access: {
    scope: 'agent-profiles:read',
    subject: { collection: agentProfiles, parameter: 'agentProfileId', notFound, past: entity },
  },
  input: t.intersection([t.type({ agentProfileId: cuid }), t.partial(asOfInput)]),
  output: AgentProfileRecord,
  failures: [notFound],
  reads: { flows: agentProfileFlows },
  services: pastReadNames,
  hasRevision: true,
  changesWithinRevision: true,
  answer: async ({ input: { asOf }, subject }, sources) => {
    if (asOf === undefined) return E.right({ body: subject.record, revision: subject.head.revision });
    const past = { history: agentProfileHistory, entity, kind: 'agent-profile', notFound } as const;
    const found = await recordAsOf<AgentProfileRecord>(sources, past, subject.id, asOf);
    if (E.isLeft(found) || 'revision' in asOf) return found;
    const flowIds = await flowsAsOf(sources.history, sources.read.flows, subject.id, asOf.time);
    return E.right({ ...found.right, body: { ...found.right.body, flowIds } });
  },
});

/** Reads the streams of the flows that the profile had, in the order in which they first had it. */
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
    const page: DocumentPage<AgentProfileFlowDocument> = await collection.list<AgentProfileFlowDocument>(
      { agentProfileId },
      request,
    );
    for (const { value } of page.documents) yield value.flowId;
    after = page.next;
  } while (after !== null);
}
