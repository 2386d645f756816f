import type { CollectionReader } from '#application/operations/paging.ts';
import type { QuerySources } from '#application/queries/query.ts';
import { driftedFlows, holdSame, type SeenFlow } from '#domain/instance/drift.ts';
import { type AgentProfileDocument, agentProfiles } from '#projections/agent-profiles.ts';
import { type FlowDocument, flows } from '#projections/flows.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';

export const driftReads = { flows, agentProfiles, instances };

export type DriftReads = keyof typeof driftReads;

/** The collections that are compared with an instance. */
const compared = [flows.name, agentProfiles.name];

/** An instance with the flows that somebody changed by hand. */
export interface Drift {
  readonly document: InstanceDocument;
  readonly drifted: ReadonlyArray<string>;
}

const tries = 3;

/**
 * Changes by the instance's own operations do not count: neither those that these read models do not show yet nor those
 * that they have shown since the instance was read.
 */
export async function listDrift(
  { read, waitForPosition }: QuerySources<DriftReads, 'waitForPosition'>,
  { id, value }: StoredDocument<InstanceDocument>,
): Promise<Drift> {
  let document = value;
  for (let left = tries; ; left -= 1) {
    if ((await driftedNow(read, document)).length === 0) return { document, drifted: [] };
    await waitForPosition(compared, document.position);
    const drifted = await driftedNow(read, document);
    const after = await read.instances.get<InstanceDocument>(id, 'fresh');
    if (after === null || after.value.revision === document.revision || left === 0) return { document, drifted };
    document = after.value;
  }
}

async function driftedNow(
  read: Readonly<Record<DriftReads, CollectionReader>>,
  { state }: InstanceDocument,
): Promise<ReadonlyArray<string>> {
  const { base, operation, target } = state;
  if (base === null) return [];
  const seen = new Map<string, SeenFlow>();
  for (const { id } of base.resources.flows) {
    const found = await read.flows.get<FlowDocument>(id);
    if (found === null) continue;
    const { record, activeVersionId } = found.value;
    const { name, agentProfileId } = record;
    seen.set(id, { isNamed: (wanted) => wanted === name, agentProfileId, activeVersionId });
  }
  const { agentProfile } = base.resources;
  const profile = agentProfile && (await read.agentProfiles.get<AgentProfileDocument>(agentProfile.id))?.value.record;
  return driftedFlows(
    base.resources,
    {
      flow: (id) => seen.get(id) ?? null,
      agentProfile: profile ? { holds: (contents) => holdSame(contents, profile) } : null,
    },
    operation === null ? null : target.resources,
  );
}
