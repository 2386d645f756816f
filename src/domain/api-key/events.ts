import * as t from 'io-ts';
import { oneOf } from '#domain/codecs.ts';

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
    scopes: t.readonlyArray(t.string),
    secretHash: t.string,
    prefix: t.string,
  }),
  ApiKeyRotated: t.type({
    id: t.string,
    secretHash: t.string,
    prefix: t.string,
    previousSecretHash: t.string,
    /** When the secret before it ends to work. */
    previousValidUntil: t.string,
  }),
  ApiKeyRevoked: t.type({ id: t.string }),
};

export type ApiKeyEvents = { [Type in keyof typeof apiKeyEvents]: t.TypeOf<(typeof apiKeyEvents)[Type]> };
