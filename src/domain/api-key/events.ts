import * as t from 'io-ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';

/** The types of key there are. */
export const KeyTypeCodec = oneOf('admin', 'partner', 'organization', 'project');

/** The events of an API key's stream. A secret is there as its SHA-256 alone. */
export const apiKeyEvents = {
  ApiKeyCreated: t.type({
    id: t.string,
    projectId: t.string,
    organizationId: t.string,
    name: t.string,
    keyType: KeyTypeCodec,
    /** Null: all of its type, those added later too. */
    scopes: nullable(t.readonlyArray(t.string)),
    secretHash: t.string,
    prefix: t.string,
    /** The key that made it; null for one that no key made, and for those made before this was recorded. */
    createdByKeyId: nullable(t.string),
    /** When the key ends to work; null when it does not end by itself. */
    expiresAt: nullable(t.string),
  }),
  ApiKeyRotated: t.type({
    id: t.string,
    secretHash: t.string,
    prefix: t.string,
    previousSecretHash: t.string,
    /** When all secrets before it end to work, unless they ended sooner. */
    previousValidUntil: t.string,
    /** The key that rotated it; null as for `createdByKeyId`. */
    rotatedByKeyId: nullable(t.string),
    /** As for a new key; from now on it is this. */
    expiresAt: nullable(t.string),
  }),
  ApiKeyRevoked: t.type({
    id: t.string,
    /**
     * The keys that were known to descend from it, when every descendant is revoked with it: a process revokes them, and
     * those that were not known. Null when it is revoked alone.
     */
    descendantKeyIds: nullable(t.readonlyArray(t.string)),
  }),
};

export type ApiKeyEvents = { [Type in keyof typeof apiKeyEvents]: t.TypeOf<(typeof apiKeyEvents)[Type]> };
