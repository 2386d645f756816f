import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { projection } from '#read-store/projection.ts';

/** Which key a secret belongs to. The id is the secret's SHA-256. */
export interface ApiKeySecretDocument {
  readonly keyId: string;
  /** When it ends to work; null while it is the key's newest. */
  readonly validUntil: string | null;
}

/** The secrets that still work, or did until a rotation's overlap ended. */
export const apiKeySecrets = projection<ApiKeySecretDocument, ApiKeyEvents>({
  name: 'api-key-secrets',
  version: 1,
  keys: (event) => {
    switch (event.type) {
      case 'ApiKeyCreated':
        return [event.data.secretHash];
      case 'ApiKeyRotated':
        return [event.data.secretHash, event.data.previousSecretHash];
      case 'ApiKeyRevoked':
        return [];
    }
  },
  on: {
    ApiKeyCreated: (_, { data }) => ({ keyId: data.id, validUntil: null }),
    ApiKeyRotated: (_, { data }, secretHash) => ({
      keyId: data.id,
      validUntil: secretHash === data.secretHash ? null : data.previousValidUntil,
    }),
    ApiKeyRevoked: { removeWhere: ({ data }) => ({ keyId: data.id }) },
  },
  indexes: [['keyId']],
});
