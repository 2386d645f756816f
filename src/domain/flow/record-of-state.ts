import { parentId } from '#domain/shared/entity.ts';
import { type DataAt, readText } from '#domain/shared/text-reference.ts';
import type { FlowEvents } from './events.ts';
import { type FlowState, knownFlow } from './flow.ts';
import type { FlowRecord, FlowVersionRecord } from './record.ts';

/**
 * The record of a flow from its state.
 * @param dataAt reads the data of an event of the flow's stream, which has name and description
 */
export async function flowRecord(state: FlowState, dataAt: DataAt): Promise<FlowRecord> {
  const { id, projectId, type, tier, agentProfileId, createdAt, updatedAt, ...texts } = knownFlow(state).record;
  const name = await readText<string>(texts.name, 'name', dataAt);
  const description = await readText(texts.description, 'description', dataAt);
  return { id, projectId, name, type, description, tier, agentProfileId, createdAt, updatedAt };
}

/**
 * The record of a version from the flow's state.
 * @param dataAt reads the data of an event of the flow's stream, which has tag and schema
 */
export async function flowVersionRecord(state: FlowState, id: string, dataAt: DataAt): Promise<FlowVersionRecord> {
  const version = state?.versions.get(id);
  if (!state || version === undefined) throw new Error('an answer about a flow version needs one');
  const { createdAt, updatedAt } = version;
  const isActive = state.activeVersionId === id;
  const made = (await dataAt(version.schemaRevision)) as unknown as FlowEvents['FlowVersionCreated'];
  const { flowSchema, restoredFrom } = made;
  const tag = await readText<string>(version.tag, 'tag', dataAt);
  const record = {
    id,
    flowId: parentId(id),
    version: version.version,
    tag,
    flowSchema,
    isActive,
    createdAt,
    updatedAt,
  };
  return restoredFrom === undefined ? record : { ...record, restoredFrom };
}
