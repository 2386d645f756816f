import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { projection } from '#projection-engine/projection.ts';

/** Which key a secret belongs to. The id is the secret's SHA-256. Whether it works, the key's stream says. */
export interface ApiKeySecretDocument {
  readonly keyId: string;
}

/** The secrets of the keys in force, those that were replaced too. */
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
