import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { ignored, projection } from '#projection-engine/projection.ts';

/** That one key made or rotated another, whether either is in force or not. */
export interface ApiKeyOriginDocument {
  readonly keyId: string;
  /** The key that made or rotated it. */
  readonly byKeyId: string;
}

/** The id of a document; null where there is none: a key does not descend from itself. */
function originId(keyId: string, byKeyId: string | null): ReadonlyArray<string> {
  return byKeyId === null || byKeyId === keyId ? [] : [`${byKeyId}.${keyId}`];
}

/** Which keys descend from which: what is to be revoked with a key. */
export const apiKeyOrigins = projection<ApiKeyOriginDocument, ApiKeyEvents>({
  name: 'api-key-origins',
  version: 1,
  keys: (event) => {
    switch (event.type) {
      case 'ApiKeyCreated':
        return originId(event.data.id, event.data.createdByKeyId);
      case 'ApiKeyRotated':
        return originId(event.data.id, event.data.rotatedByKeyId);
      case 'ApiKeyRevoked':
        return [];
    }
  },
  on: {
    ApiKeyCreated: (_, { data }) => ({ keyId: data.id, byKeyId: data.createdByKeyId ?? '' }),
    ApiKeyRotated: (_, { data }) => ({ keyId: data.id, byKeyId: data.rotatedByKeyId ?? '' }),
    // A key that descends from a revoked one descends from those before it all the same.
    ApiKeyRevoked: ignored,
  },
  indexes: [['byKeyId']],
});
