import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import {
  type ApiKeyState,
  allKeys,
  apiKey,
  apiKeyRecord,
  type KeyCutoffEvents,
  type KeyCutoffState,
  keyCutoff,
} from './api-key.ts';
import type { ApiKeyEvents } from './events.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'key', id });

/** The history shows no secrets, and no hashes of them. */
export const apiKeyHistory = entityHistory<ApiKeyState, ApiKeyEvents>({
  entity: apiKey,
  events: {
    ApiKeyCreated: {
      resource: itself,
      summary: ({ name, keyType }) => `The ${keyType} key ${quote(name)} was created.`,
    },
    ApiKeyRotated: {
      resource: itself,
      summary: ({ prefix }) => `The key was rotated: its new secret begins with ${prefix}.`,
    },
    ApiKeyRevoked: {
      resource: itself,
      summary: ({ descendantKeyIds }) =>
        descendantKeyIds === null ? 'The key was revoked.' : 'The key was revoked, with all keys that descend from it.',
    },
  },
  // The time of the last use is not an event.
  record: async (state, { id }) => (apiKey.isLive(state, id) ? { ...apiKeyRecord(state), lastUsedAt: null } : null),
});

export const keyCutoffHistory = entityHistory<KeyCutoffState, KeyCutoffEvents>({
  entity: keyCutoff,
  events: {
    ApiKeySecretsEnded: {
      resource: () => ({ kind: 'key', id: allKeys }),
      summary: ({ issuedBefore }) => `Every secret issued before ${issuedBefore} was ended.`,
    },
  },
  record: async () => null,
});
