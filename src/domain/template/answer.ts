import type { JsonObject } from '#src/json.ts';
import type { FieldsSchema, TemplatePayload } from './payload.ts';
import type { TemplateRecord, TemplateVersionRecord } from './record.ts';
import type { TemplateState } from './template.ts';

/** The record of a template from its state. */
export function templateRecord(state: TemplateState): TemplateRecord {
  if (state === null) throw new Error('an answer about a template needs one');
  return state.record;
}

/**
 * The record of a version from the template's state.
 * @param dataAt gives the data of an event of the template's stream: the payload is there
 */
export async function templateVersionRecord(
  state: TemplateState,
  id: string,
  dataAt: (revision: number) => Promise<JsonObject>,
): Promise<TemplateVersionRecord> {
  const version = state?.versions.get(id);
  if (version === undefined) throw new Error('an answer about a template version needs one');
  const { payloadRevision, publishedAt, createdAt, updatedAt, ...record } = version;
  const { payload, fieldsSchema } = (await dataAt(payloadRevision)) as unknown as Contents;
  return { ...record, payload, fieldsSchema, publishedAt, createdAt, updatedAt };
}

interface Contents {
  readonly payload: TemplatePayload;
  readonly fieldsSchema: FieldsSchema;
}
