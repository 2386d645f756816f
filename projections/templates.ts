import { streamKeyOf } from '#domain/shared/entity.ts';
import type { TemplateEvents } from '#domain/template/events.ts';
import type { TemplateRecord } from '#domain/template/record.ts';
import { projection } from '#projection-engine/projection.ts';
import { changed, moved, type TenantDocument, tenantIndexes, tenantOf } from './document.ts';

export type TemplateDocument = TenantDocument<TemplateRecord>;

/** The revision also changes with the template's versions, because they share a stream and an ETag. */
export const templates = projection<TemplateDocument, TemplateEvents>({
  name: 'templates',
  version: 1,
  keys: ({ stream }) => [streamKeyOf(stream)],
  on: {
    TemplateCreated: (_, { data, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      record: { ...data, status: 'draft', createdAt: metadata.time, updatedAt: metadata.time },
    }),
    TemplateRenamed: (document, event) => changed(document, event, { name: event.data.name }),
    TemplateDescribed: (document, event) => changed(document, event, { description: event.data.description }),
    TemplateArchived: (document, event) => changed(document, event, { status: 'archived' }),
    TemplateVersionCreated: moved,
    TemplateVersionPublished: (document, event) =>
      document?.record.status === 'draft' ? changed(document, event, { status: 'published' }) : moved(document, event),
  },
  holdsETags: true,
  indexes: tenantIndexes(['partnerId'], ['name', 'status']),
});
