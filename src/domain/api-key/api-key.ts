import type { Entity } from '#domain/shared/entity.ts';
import type { ApiKeyEvents } from './events.ts';
import type { ApiKeyRecord } from './record.ts';

/** A secret of a key, as its SHA-256. Times are RFC 3339. */
export interface KeySecret {
  readonly hash: string;
  readonly issuedAt: string;
  /** When it ends to work because it was replaced; null while it is the newest. */
  readonly validUntil: string | null;
}

/** An API key, or null before it was created. */
export type ApiKeyState = {
  readonly record: Omit<ApiKeyRecord, 'lastUsedAt'>;
  /** The newest first; of those replaced, as many as may still work. */
  readonly secrets: readonly [KeySecret, ...KeySecret[]];
  readonly revoked: boolean;
  /** The revision of the event that revokes its descendants too; null while there is none. */
  readonly descendantsRevokedAt: number | null;
} | null;

/** Replaced secrets of one key that may work at once; when there are more, the oldest end. */
const maxReplacedSecrets = 16;

export const apiKey: Entity<ApiKeyState, ApiKeyEvents> = {
  category: 'apiKey',
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null && !state.revoked,
  notFound: 'key-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    switch (event.type) {
      case 'ApiKeyCreated': {
        const { secretHash, ...record } = event.data;
        return {
          record: { ...record, createdAt: time, updatedAt: time },
          secrets: [{ hash: secretHash, issuedAt: time, validUntil: null }],
          revoked: false,
          descendantsRevokedAt: null,
        };
      }
      case 'ApiKeyRotated': {
        const { secretHash, prefix, previousValidUntil, expiresAt } = event.data;
        return (
          state && {
            ...state,
            secrets: [
              { hash: secretHash, issuedAt: time, validUntil: null },
              ...replaced(state.secrets, previousValidUntil, time),
            ],
            record: { ...state.record, prefix, expiresAt, updatedAt: time },
          }
        );
      }
      case 'ApiKeyRevoked': {
        if (state === null || event.data.descendantKeyIds === null) return state && { ...state, revoked: true };
        return { ...state, revoked: true, descendantsRevokedAt: state.descendantsRevokedAt ?? event.revision };
      }
    }
  },
};

/** The secrets before a rotation: none of them works longer than its overlap, those that have ended are forgotten. */
function replaced(secrets: ReadonlyArray<KeySecret>, validUntil: string, now: string): ReadonlyArray<KeySecret> {
  return secrets
    .map((secret) => ({ ...secret, validUntil: earlierOf(secret.validUntil, validUntil) }))
    .filter((secret) => secret.validUntil > now)
    .slice(0, maxReplacedSecrets);
}

function earlierOf(one: string | null, other: string): string {
  return one !== null && one < other ? one : other;
}

/** The SHA-256 of a key's newest secret. */
export function newestSecretOf(state: ApiKeyState): string | null {
  return state === null ? null : state.secrets[0].hash;
}

/** The record of an API key from its state; when it was last used, the read store knows. */
export function apiKeyRecord(state: ApiKeyState): Omit<ApiKeyRecord, 'lastUsedAt'> {
  if (state === null) throw new Error('an answer about an API key needs one');
  return state.record;
}
