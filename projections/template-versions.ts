import type { TemplateEvents } from '#domain/template/events.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import { ignored, projection } from '#projection-engine/projection.ts';
import { type TenantDocument, tenantOf } from './document.ts';

export interface TemplateVersionDocument extends Omit<TenantDocument<TemplateVersionRecord>, 'revision'> {
  readonly templateId: string;
}

/** Their ETag is the template's. */
export const templateVersions = projection<TemplateVersionDocument, TemplateEvents>({
  name: 'template-versions',
  version: 1,
  keys: ({ data }) => [data.id],
  on: {
    TemplateVersionCreated: {
      create: ({ data, metadata }) => ({
        ...tenantOf(metadata),
        templateId: data.templateId,
        record: { ...data, publishedAt: null, createdAt: metadata.time, updatedAt: metadata.time },
      }),
    },
    TemplateCreated: ignored,
    TemplateRenamed: ignored,
    TemplateDescribed: ignored,
    TemplateArchived: ignored,
    TemplateVersionPublished: (document, { metadata: { time } }) =>
      document && { ...document, record: { ...document.record, publishedAt: time, updatedAt: time } },
  },
  indexes: [['templateId']],
});
