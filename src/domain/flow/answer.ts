import type { JsonObject } from '#src/json.ts';
import type { FlowState } from './flow.ts';
import type { FlowRecord, FlowVersionRecord } from './record.ts';

/** The record of a flow from its state. */
export function flowRecord(state: FlowState): FlowRecord {
  if (state === null) throw new Error('an answer about a flow needs one');
  return state.record;
}

/**
 * The record of a version from the flow's state.
 * @param dataAt gives the data of an event of the flow's stream: the schema is there
 */
export async function flowVersionRecord(
  state: FlowState,
  id: string,
  dataAt: (revision: number) => Promise<JsonObject>,
): Promise<FlowVersionRecord> {
  const version = state?.versions.get(id);
  if (!state || version === undefined) throw new Error('an answer about a flow version needs one');
  const { schemaRevision, deleted: _deleted, replacedVersionId: _replaced, createdAt, updatedAt, ...record } = version;
  const { flowSchema = null } = await dataAt(schemaRevision);
  const isActive = state.activeVersionId === id;
  return { ...record, flowSchema, isActive, createdAt, updatedAt };
}
