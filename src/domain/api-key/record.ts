import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { type Scope, scopes } from '#domain/shared/access.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';
import { KeyTypeCodec } from './events.ts';

const [firstScope, ...otherScopes] = scopes as [Scope, ...Scope[]];

export const ScopeCodec = enumeration('Scope', firstScope, ...otherScopes);

/** A key without its secret. */
export const ApiKeyRecord = record('ApiKey', {
  id: [cuid, exampleIds.apiKey],
  projectId: [cuid, exampleIds.project],
  organizationId: [cuid, exampleIds.organization],
  name: [text(), 'Website'],
  keyType: [KeyTypeCodec, 'project'],
  /** Null means all scopes of its type, including scopes of later releases. */
  scopes: [nullable(t.readonlyArray(text())), ['flows:read', 'flows:write']],
  /** The first characters of the secret, to distinguish keys. */
  prefix: [text(), 'sy_live_7Qm2'],
  /** Null if no key created it, or if it is unknown. */
  createdByKeyId: [nullable(cuid), null],
  /** When it expires; null if it does not. */
  expiresAt: [nullable(timestamp), null],
  /** When it was last used, to the minute; null if it was never used. */
  lastUsedAt: [nullable(timestamp), null],
  ...recordTimes,
});

export type ApiKeyRecord = t.TypeOf<typeof ApiKeyRecord>;

/** Only the first answer has `key`. */
export const ApiKeyWithSecret = t.intersection([ApiKeyRecord, t.partial({ key: text() })], 'ApiKeyWithSecret');

export type ApiKeyWithSecret = t.TypeOf<typeof ApiKeyWithSecret>;

export const KeyIntrospection = record('KeyIntrospection', {
  apiKeyId: [cuid, exampleIds.apiKey],
  projectId: [cuid, exampleIds.project],
  organizationId: [cuid, exampleIds.organization],
  keyType: [KeyTypeCodec, 'project'],
});

export type KeyIntrospection = t.TypeOf<typeof KeyIntrospection>;
