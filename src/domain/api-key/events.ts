import * as t from 'io-ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';

export const KeyTypeCodec = enumeration('KeyType', 'admin', 'partner', 'organization', 'project');

/** They hold only the SHA-256 of a secret. */
export const apiKeyEvents = {
  ApiKeyCreated: t.type({
    id: t.string,
    projectId: t.string,
    organizationId: t.string,
    name: t.string,
    keyType: KeyTypeCodec,
    /** Null means all scopes of its type, including scopes of later releases. */
    scopes: nullable(t.readonlyArray(t.string)),
    secretHash: t.string,
    prefix: t.string,
    /** The key that created it; null if no key did, or in events from before this was recorded. */
    createdByKeyId: nullable(t.string),
    /** When the key expires; null if it does not. */
    expiresAt: nullable(t.string),
  }),
  ApiKeyRotated: t.type({
    id: t.string,
    secretHash: t.string,
    prefix: t.string,
    previousSecretHash: t.string,
    /** When all earlier secrets expire, unless they expired before. */
    previousValidUntil: t.string,
    /** The key that rotated it; null as for `createdByKeyId`. */
    rotatedByKeyId: nullable(t.string),
    /** When the key expires, as in `ApiKeyCreated`. */
    expiresAt: nullable(t.string),
  }),
  ApiKeyRevoked: t.type({
    id: t.string,
    /**
     * The known descendants, if all descendants are revoked with it: a process revokes these and those that were not
     * known. Null if only this key is revoked.
     */
    descendantKeyIds: nullable(t.readonlyArray(t.string)),
  }),
};

export type ApiKeyEvents = { [Type in keyof typeof apiKeyEvents]: t.TypeOf<(typeof apiKeyEvents)[Type]> };
