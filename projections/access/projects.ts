import type { ProjectEvents } from '#domain/project/project.ts';
import type { ProjectRecord } from '#domain/project/record.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import { projection } from '#projection-engine/projection.ts';
import { changed, type TenantDocument, tenantIndexes, tenantOf } from '#projections/document.ts';

export type ProjectDocument = TenantDocument<ProjectRecord>;

export const projects = projection<ProjectDocument, ProjectEvents>({
  name: 'projects',
  version: 1,
  keys: ({ stream }) => [streamKeyOf(stream)],
  on: {
    ProjectCreated: (_, { data, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      record: { ...data, createdAt: metadata.time, updatedAt: metadata.time },
    }),
    ProjectRenamed: (document, event) => changed(document, event, { name: event.data.name }),
    ProjectResponsesErased: (document, event) => changed(document, event, {}),
  },
  indexes: tenantIndexes(['organizationId', 'partnerId', 'projectId'], ['name']),
});
