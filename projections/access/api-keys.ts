import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import type { ApiKeyRecord } from '#domain/api-key/record.ts';
import { projection } from '#projection-engine/projection.ts';
import { changed, type TenantDocument, tenantOf } from '#projections/document.ts';

export type ApiKeyDocument = TenantDocument<Omit<ApiKeyRecord, 'lastUsedAt'>>;

/** Valid keys, without their secrets. */
export const apiKeys = projection<ApiKeyDocument, ApiKeyEvents>({
  name: 'api-keys',
  version: 2,
  keys: ({ data }) => [data.id],
  on: {
    ApiKeyCreated: (_, { data: { secretHash: _hash, ...contents }, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      record: { ...contents, createdAt: metadata.time, updatedAt: metadata.time },
    }),
    ApiKeyRotated: (document, event) =>
      changed(document, event, { prefix: event.data.prefix, expiresAt: event.data.expiresAt }),
    ApiKeyRevoked: () => null,
  },
  indexes: [['projectId'], ['projectId', 'name']],
});
