import * as t from 'io-ts';
import { isCuid } from '#domain/codecs/id.ts';
import { type Caller, effectiveScopes } from '#domain/shared/access.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { ApiKeyEvents } from './events.ts';
import type { ApiKeyRecord } from './record.ts';

/** A secret as its SHA-256. Times are RFC 3339. */
export interface KeySecret {
  readonly hash: string;
  readonly issuedAt: string;
  /** When it expires because it was replaced; null while it is the newest. */
  readonly validUntil: string | null;
}

/** Null before it was created. */
export type ApiKeyState = {
  readonly record: Omit<ApiKeyRecord, 'lastUsedAt'>;
  /** The newest secret first, and then the replaced ones that may still be valid. */
  readonly secrets: readonly [KeySecret, ...KeySecret[]];
  readonly revoked: boolean;
  /** The time of the event that also revokes its descendants; null without one. */
  readonly descendantsRevokedAt: number | null;
} | null;

/** Maximum number of replaced secrets that are valid at the same time; beyond that the oldest expire. */
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

/** The secrets after a rotation. None is valid longer than the overlap, and expired ones are removed. */
function replaced(secrets: ReadonlyArray<KeySecret>, validUntil: string, now: string): ReadonlyArray<KeySecret> {
  return secrets
    .map((secret) => ({ ...secret, validUntil: earlierOf(secret.validUntil, validUntil) }))
    .filter((secret) => secret.validUntil > now)
    .slice(0, maxReplacedSecrets);
}

function earlierOf(one: string | null, other: string): string {
  return one !== null && one < other ? one : other;
}

/** The newest secret as SHA-256. */
export function newestSecretOf(state: ApiKeyState): string | null {
  return state === null ? null : state.secrets[0].hash;
}

/** The record without the time of its last use, which only the read store has. */
export function apiKeyRecord(state: ApiKeyState): Omit<ApiKeyRecord, 'lastUsedAt'> {
  if (state === null) throw new Error('an answer about an API key needs one');
  return state.record;
}

/**
 * Null if a key can expire then.
 * @param expiresAt RFC 3339 in UTC with milliseconds; null for a key that does not expire
 * @param now in the same form
 */
export function expiryRefusal(expiresAt: string | null, now: string): Failure | null {
  if (expiresAt === null || expiresAt > now) return null;
  const errors = [{ pointer: '/expiresAt', message: `is ${expiresAt}, which is not in the future` }];
  return failure('invalid-input', `A key cannot end at ${expiresAt}: name a time in the future, or null.`, { errors });
}

const rank = { project: 0, organization: 1, partner: 2, admin: 3 } as const;

/** A key may not rotate or revoke another key with more rights. */
export function checkMayManage(caller: Caller, state: ApiKeyState): Failure | null {
  if (state === null || state.record.id === caller.keyId) return null;
  const { keyType, scopes } = state.record;
  if (rank[keyType] > rank[caller.keyType]) {
    return failure('key-type-not-allowed', `A key of type ${caller.keyType} cannot manage one of type ${keyType}.`);
  }
  const wider = [...effectiveScopes(keyType, scopes)].find((scope) => !caller.scopes.has(scope));
  if (wider !== undefined) {
    return failure('scope-required', `A key cannot manage one that has a scope it lacks itself: ${wider}.`);
  }
  return scopes === null && !caller.hasAllScopes
    ? failure('scope-required', 'A key with a list of scopes cannot manage one that has all scopes of its type.')
    : null;
}

/** The events that end the secrets of all keys. */
export const keyCutoffEvents = {
  /** Every secret of every key that was issued before this time has expired. */
  ApiKeySecretsEnded: t.type({ issuedBefore: t.string }),
};

export type KeyCutoffEvents = { [Type in keyof typeof keyCutoffEvents]: t.TypeOf<(typeof keyCutoffEvents)[Type]> };

/** Every secret issued before this time has expired. Null without a cutoff. */
export interface KeyCutoffState {
  readonly issuedBefore: string | null;
}

/** The id of the cutoff, which concerns all keys. */
export const allKeys = 'all';

export const keyCutoff: Entity<KeyCutoffState, KeyCutoffEvents> = {
  category: 'keyCutoff',
  initial: { issuedBefore: null },
  streamKey: (id) => id,
  everExisted: () => true,
  isLive: () => true,
  notFound: 'key-not-found',
  evolve: ({ issuedBefore }, { data }) => ({
    issuedBefore: issuedBefore !== null && issuedBefore > data.issuedBefore ? issuedBefore : data.issuedBefore,
  }),
};

/** The maker as events record it; null for the local operator, who has no key. */
export function makerOf({ keyId }: Caller): string | null {
  return isCuid(keyId) ? keyId : null;
}

/** The failure when the caller's key was revoked during the request. */
export const makerRevoked: Failure = failure(
  'key-invalid',
  'The API key was revoked while it was used. So this request gets no secret.',
);
