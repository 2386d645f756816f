import type { ApiKeyState } from '#domain/api-key/api-key.ts';
import { effectiveScopes } from '#domain/shared/scope.ts';
import type { Caller, Tenant } from '#domain/shared/tenancy.ts';

/** A secret in its key's stream. Times are in ms since 1970. */
interface HeldSecret {
  readonly issuedAt: number;
  /** When it expires because it was replaced. */
  readonly validUntil: number;
}

/** The state of a key from its stream, and its age. */
export interface KeyHolder {
  /** Null for a key that is revoked or does not exist. */
  readonly caller: Caller | null;
  readonly secrets: ReadonlyMap<string, HeldSecret>;
  /** In ms since 1970. */
  readonly expiresAt: number;
  /** Of the stream. */
  readonly revision: number;
  /**
   * It contains everything that was stored before this moment of the node's clock. A revoked key never changes, so this
   * is infinite.
   */
  readonly asOf: number;
  /** When it was last confirmed by the log, on the node's clock. */
  confirmedAt: number;
}

const never = Number.POSITIVE_INFINITY;

/** Makes the holder of a key. @param stream the key's, as read @param asOf when the read began, on the node's clock */
export function keyHolder(
  stream: { readonly state: ApiKeyState; readonly tenant: Tenant | null; readonly revision: number },
  asOf: number,
): KeyHolder {
  const { state, tenant, revision } = stream;
  if (state === null || tenant === null) return { ...revokedHolder(revision), asOf, confirmedAt: asOf };
  if (state.revoked) return revokedHolder(revision);
  const { id, keyType, projectId, organizationId, scopes, expiresAt } = state.record;
  return {
    caller: {
      keyId: id,
      keyType,
      projectId,
      organizationId,
      partnerId: tenant.partnerId,
      scopes: effectiveScopes(keyType, scopes),
      hasAllScopes: scopes === null,
    },
    secrets: new Map(
      state.secrets.map(({ hash, issuedAt, validUntil }) => [
        hash,
        { issuedAt: Date.parse(issuedAt), validUntil: timeOf(validUntil) },
      ]),
    ),
    expiresAt: timeOf(expiresAt),
    revision,
    asOf,
    confirmedAt: asOf,
  };
}

/**
 * A revoked key, which never becomes valid again.
 * @param revision the last known revision of its stream
 */
export function revokedHolder(revision: number): KeyHolder {
  return { caller: null, secrets: new Map(), expiresAt: never, revision, asOf: never, confirmedAt: never };
}

/**
 * The caller with a secret of a key; null if the secret is not valid.
 * @param issuedBefore secrets issued before this time have expired, in ms since 1970
 * @param now in ms since 1970
 */
export function callerWith(
  { caller, secrets, expiresAt }: KeyHolder,
  secretHash: string,
  issuedBefore: number,
  now: number,
): Caller | null {
  const secret = secrets.get(secretHash);
  if (caller === null || secret === undefined) return null;
  const works = secret.issuedAt >= issuedBefore && now < secret.validUntil && now < expiresAt;
  return works ? caller : null;
}

function timeOf(time: string | null): number {
  return time === null ? never : Date.parse(time);
}
