import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { projection } from '#projection-engine/projection.ts';

/** The document's id is the SHA-256 of the secret. The stream of the key says whether the secret is valid. */
export interface ApiKeySecretDocument {
  readonly keyId: string;
}

/** The secrets of valid keys, including replaced ones. */
export const apiKeySecrets = projection<ApiKeySecretDocument, ApiKeyEvents>({
  name: 'api-key-secrets',
  version: 2,
  keys: (event) => (event.type === 'ApiKeyRevoked' ? [] : [event.data.secretHash]),
  on: {
    ApiKeyCreated: (_, { data }) => ({ keyId: data.id }),
    ApiKeyRotated: (_, { data }) => ({ keyId: data.id }),
    ApiKeyRevoked: { removeWhere: ({ data }) => ({ keyId: data.id }) },
  },
  indexes: [['keyId']],
});
