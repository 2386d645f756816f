import { Map as PersistentMap } from 'immutable';
import { type Entity, parentId, type Recorded, type RecordedEventOf } from '#domain/shared/entity.ts';
import { failure } from '#domain/shared/failure.ts';
import { type DataAt, readReferencedText, referenceTo, type TextReference } from '#domain/shared/text-reference.ts';
import type { TemplateEvents } from './events.ts';
import type { TemplateRecord, TemplateVersionRecord } from './record.ts';

export interface TemplateFacts extends Omit<TemplateRecord, 'name' | 'description'> {
  readonly name: TextReference;
  readonly description: TextReference;
}

/** The state of a version, whose tag, payload and fields stay in the event at `payloadRevision`. */
export interface TemplateVersionState
  extends Omit<TemplateVersionRecord, 'templateId' | 'tag' | 'payload' | 'fieldsSchema'> {
  readonly payloadRevision: number;
}

/** A template with its versions. Null before it was created. */
export type TemplateState = {
  readonly record: TemplateFacts;
  readonly versions: PersistentMap<string, TemplateVersionState>;
} | null;

type Created = NonNullable<TemplateState>;

/** Estimated size of a version with its entry in the map. */
const bytesOfVersion = 512;

/** Each template has one stream, with its versions. */
export const template: Entity<TemplateState, TemplateEvents> = {
  category: 'template',
  stateVersion: 1,
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null,
  estimateBytes: (state) => bytesOfVersion * (state?.versions.size ?? 0),
  notFound: 'template-not-found',
  evolve: (state, event) => {
    if (event.type === 'TemplateCreated') return created(event);
    return state && evolveTemplate(state, event);
  },
};

/** A version is addressed by its own id, in the template's stream and state. */
export const templateVersion: Entity<TemplateState, TemplateEvents> = {
  ...template,
  streamKey: parentId,
  everExisted: (state, id) => state?.versions.has(id) === true,
  isLive: (state, id) => state?.versions.has(id) === true,
  notFound: 'template-version-not-found',
};

function created({
  data,
  revision,
  metadata: { time },
}: Recorded<'TemplateCreated', TemplateEvents['TemplateCreated']>): Created {
  const name = referenceTo(data.name, revision);
  const description = referenceTo(data.description, revision);
  const record = { ...data, name, description, status: 'draft' as const, createdAt: time, updatedAt: time };
  return { record, versions: PersistentMap() };
}

function evolveTemplate(state: Created, event: RecordedEventOf<TemplateEvents>): Created {
  const { time } = event.metadata;
  switch (event.type) {
    case 'TemplateCreated':
      return state;
    case 'TemplateRenamed':
      return withRecord(state, { name: referenceTo(event.data.name, event.revision) }, time);
    case 'TemplateDescribed':
      return withRecord(state, { description: referenceTo(event.data.description, event.revision) }, time);
    case 'TemplateArchived':
      return withRecord(state, { status: 'archived' }, time);
    case 'TemplateVersionCreated': {
      const { id, version } = event.data;
      const made = { id, version, publishedAt: null, createdAt: time, updatedAt: time };
      return { ...state, versions: state.versions.set(id, { ...made, payloadRevision: event.revision }) };
    }
    case 'TemplateVersionPublished': {
      const published = withPublished(state, event.data.id, time);
      return state.record.status === 'draft' ? withRecord(published, { status: 'published' }, time) : published;
    }
  }
}

function withRecord(state: Created, change: Partial<TemplateFacts>, time: string): Created {
  return { ...state, record: { ...state.record, ...change, updatedAt: time } };
}

function withPublished(state: Created, id: string, time: string): Created {
  const version = state.versions.get(id);
  if (version === undefined) return state;
  return { ...state, versions: state.versions.set(id, { ...version, publishedAt: time, updatedAt: time }) };
}

export function knownTemplate(state: TemplateState): NonNullable<TemplateState> {
  if (state === null) throw new Error('this needs a template that was created');
  return state;
}

/** The versions in the order of their numbers. */
export function versionsInOrder(state: TemplateState): ReadonlyArray<TemplateVersionState> {
  return [...(state?.versions.values() ?? [])].sort((one, other) => one.version - other.version);
}

/** The failure for new versions and instances of an archived template. */
export const archived = failure(
  'template-archived',
  'The template is archived, which cannot be undone. Use another template.',
);

/** @param dataAt reads events of the template's stream, which have name and description */
export async function templateRecord(state: TemplateState, dataAt: DataAt): Promise<TemplateRecord> {
  const { id, headlessIntegratorId, status, createdAt, updatedAt, ...texts } = knownTemplate(state).record;
  const name = await readReferencedText<string>(texts.name, 'name', dataAt);
  const description = await readReferencedText(texts.description, 'description', dataAt);
  return { id, headlessIntegratorId, name, description, status, createdAt, updatedAt };
}

/** @param dataAt reads events of the template's stream, which have tag and payload */
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
