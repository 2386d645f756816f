import { parentId } from '#domain/shared/entity.ts';
import { type DataAt, readText } from '#domain/shared/text-reference.ts';
import type { TemplateEvents } from './events.ts';
import type { TemplateRecord, TemplateVersionRecord } from './record.ts';
import { knownTemplate, type TemplateState } from './template.ts';

/**
 * The record of a template from its state.
 * @param dataAt reads the data of an event of the template's stream, which has name and description
 */
export async function templateRecord(state: TemplateState, dataAt: DataAt): Promise<TemplateRecord> {
  const { id, headlessIntegratorId, status, createdAt, updatedAt, ...texts } = knownTemplate(state).record;
  const name = await readText<string>(texts.name, 'name', dataAt);
  const description = await readText(texts.description, 'description', dataAt);
  return { id, headlessIntegratorId, name, description, status, createdAt, updatedAt };
}

/**
 * The record of a version from the template's state.
 * @param dataAt reads the data of an event of the template's stream, which has tag and payload
 */
export async function templateVersionRecord(
  state: TemplateState,
  id: string,
  dataAt: DataAt,
): Promise<TemplateVersionRecord> {
  const made = state?.versions.get(id);
  if (made === undefined) throw new Error('an answer about a template version needs one');
  const { version, payloadRevision, publishedAt, createdAt, updatedAt } = made;
  const { tag, payload, fieldsSchema, restoredFrom } = (await dataAt(payloadRevision)) as unknown as Contents;
  const templateId = parentId(id);
  const record = { id, templateId, version, tag, payload, fieldsSchema, publishedAt, createdAt, updatedAt };
  return restoredFrom === undefined ? record : { ...record, restoredFrom };
}

type Contents = Pick<TemplateEvents['TemplateVersionCreated'], 'tag' | 'payload' | 'fieldsSchema' | 'restoredFrom'>;
