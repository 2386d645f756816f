import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { type Scope, scopes } from '#domain/shared/scope.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { KeyTypeCodec } from './events.ts';

const [firstScope, ...otherScopes] = scopes as [Scope, ...Scope[]];

/** A scope that a key can be given. */
export const ScopeCodec = oneOf(firstScope, ...otherScopes);

/** An API key as it is given out, without its secret. */
export const ApiKeyRecord = t.type(
  {
    id: cuid,
    projectId: cuid,
    organizationId: cuid,
    name: text(),
    keyType: KeyTypeCodec,
    /** Null: all of its type, those added later too. */
    scopes: nullable(t.readonlyArray(text())),
    /** The first characters of the secret, to tell keys apart. */
    prefix: text(),
    /** The key that made it; null where no key did, or it is not known. */
    createdByKeyId: nullable(cuid),
    /** When it ends to work; null when it does not end by itself. */
    expiresAt: nullable(timestamp),
    /** To the minute; null when it was never used. */
    lastUsedAt: nullable(timestamp),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'ApiKey',
);

export type ApiKeyRecord = t.TypeOf<typeof ApiKeyRecord>;

/** The answer to making a key: `key` is there the first time alone. */
export const ApiKeyWithSecret = t.intersection([ApiKeyRecord, t.partial({ key: text() })], 'ApiKeyWithSecret');

export type ApiKeyWithSecret = t.TypeOf<typeof ApiKeyWithSecret>;
