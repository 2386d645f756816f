import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { ignored, projection } from '#projection-engine/projection.ts';

/** One key has created or rotated another, whether or not either is still valid. */
export interface ApiKeyOriginDocument {
  readonly keyId: string;
  readonly byKeyId: string;
}

/** None if there is no document, because a key does not descend from itself. */
function originId(keyId: string, byKeyId: string | null): ReadonlyArray<string> {
  return byKeyId === null || byKeyId === keyId ? [] : [`${byKeyId}.${keyId}`];
}

/** Finds the keys that are revoked with a key. */
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
    // The descendants of a revoked key also descend from the keys before it.
    ApiKeyRevoked: ignored,
  },
  indexes: [['byKeyId']],
});
