import { type Entity, type RecordedEventOf, withoutSuffix } from '#domain/entity.ts';
import type { TemplateEvents } from './events.ts';
import type { TemplateRecord, TemplateVersionRecord } from './record.ts';

/** A version as decisions need it; its payload and fields stay in the event at `payloadRevision`. */
export interface TemplateVersionState extends Omit<TemplateVersionRecord, 'payload' | 'fieldsSchema'> {
  readonly payloadRevision: number;
}

/** A template with its versions, or null before it was created. */
export type TemplateState = {
  readonly record: TemplateRecord;
  readonly versions: ReadonlyMap<string, TemplateVersionState>;
} | null;

type Created = NonNullable<TemplateState>;

/** A template: one stream with its versions. */
export const template: Entity<TemplateState, TemplateEvents> = {
  category: 'template',
  initial: null,
  streamKey: (id) => id,
  knows: (state) => state !== null,
  isLive: (state) => state !== null,
  weigh: weightOf,
  notFound: 'template-not-found',
  evolve: (state, event) => {
    if (event.type === 'TemplateCreated') return created(event.data, event.metadata.time);
    return state && evolveTemplate(state, event);
  },
};

/** A version of a template, addressed by its own id: the same stream and state. */
export const templateVersion: Entity<TemplateState, TemplateEvents> = {
  ...template,
  streamKey: withoutSuffix,
  knows: (state, id) => state?.versions.has(id) === true,
  isLive: (state, id) => state?.versions.has(id) === true,
  notFound: 'template-version-not-found',
};

/** The texts, and what a version takes without them. */
function weightOf(state: TemplateState): number {
  if (state === null) return 0;
  const { name, description } = state.record;
  return 2 * (name.length + (description?.length ?? 0)) + 512 * state.versions.size;
}

function created(data: TemplateEvents['TemplateCreated'], time: string): Created {
  return { record: { ...data, status: 'draft', createdAt: time, updatedAt: time }, versions: new Map() };
}

function evolveTemplate(state: Created, event: RecordedEventOf<TemplateEvents>): Created {
  const { time } = event.metadata;
  switch (event.type) {
    case 'TemplateCreated':
      return state;
    case 'TemplateRenamed':
      return withRecord(state, { name: event.data.name }, time);
    case 'TemplateDescribed':
      return withRecord(state, { description: event.data.description }, time);
    case 'TemplateArchived':
      return withRecord(state, { status: 'archived' }, time);
    case 'TemplateVersionCreated': {
      const { id, templateId, version, tag } = event.data;
      const made = { id, templateId, version, tag, publishedAt: null, createdAt: time, updatedAt: time };
      return { ...state, versions: new Map(state.versions).set(id, { ...made, payloadRevision: event.revision }) };
    }
    case 'TemplateVersionPublished': {
      const published = withPublished(state, event.data.id, time);
      return state.record.status === 'draft' ? withRecord(published, { status: 'published' }, time) : published;
    }
  }
}

function withRecord(state: Created, change: Partial<TemplateRecord>, time: string): Created {
  return { ...state, record: { ...state.record, ...change, updatedAt: time } };
}

function withPublished(state: Created, id: string, time: string): Created {
  const version = state.versions.get(id);
  if (version === undefined) return state;
  return { ...state, versions: new Map(state.versions).set(id, { ...version, publishedAt: time, updatedAt: time }) };
}
