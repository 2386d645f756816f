import type { Entity } from '#domain/entity.ts';
import type { ApiKeyEvents } from './events.ts';
import type { ApiKeyRecord } from './record.ts';

/** An API key, or null before it was created. */
export type ApiKeyState = {
  readonly record: Omit<ApiKeyRecord, 'lastUsedAt'>;
  readonly secretHash: string;
  readonly revoked: boolean;
} | null;

export const apiKey: Entity<ApiKeyState, ApiKeyEvents> = {
  category: 'apiKey',
  initial: null,
  streamKey: (id) => id,
  knows: (state) => state !== null,
  isLive: (state) => state !== null && !state.revoked,
  notFound: 'key-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    switch (event.type) {
      case 'ApiKeyCreated': {
        const { secretHash, ...record } = event.data;
        return { record: { ...record, createdAt: time, updatedAt: time }, secretHash, revoked: false };
      }
      case 'ApiKeyRotated': {
        const { secretHash, prefix } = event.data;
        return state && { ...state, secretHash, record: { ...state.record, prefix, updatedAt: time } };
      }
      case 'ApiKeyRevoked':
        return state && { ...state, revoked: true };
    }
  },
};

/** The record of an API key from its state; when it was last used, the read store knows. */
export function apiKeyRecord(state: ApiKeyState): Omit<ApiKeyRecord, 'lastUsedAt'> {
  if (state === null) throw new Error('an answer about an API key needs one');
  return state.record;
}
