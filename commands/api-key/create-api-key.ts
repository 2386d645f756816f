import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type CommandEffects, command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { apiKey, apiKeyRecord, expiryRefusal, makerOf, makerRevoked } from '#domain/api-key/api-key.ts';
import { KeyTypeCodec } from '#domain/api-key/events.ts';
import { ApiKeyRecord, ApiKeyWithSecret, ScopeCodec } from '#domain/api-key/record.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instant } from '#domain/codecs/time.ts';
import { project } from '#domain/project/project.ts';
import { type Caller, type KeyType, type Scope, scopesOfKeyType, type Tenant } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** The types of keys that a key of each type may create. */
const creatableTypes: Readonly<Record<KeyType, ReadonlySet<KeyType>>> = {
  admin: new Set(['admin', 'partner', 'organization', 'project']),
  partner: new Set(['partner', 'organization', 'project']),
  organization: new Set(['organization', 'project']),
  project: new Set(['project']),
};

export const createApiKey = command({
  about: {
    name: 'create_api_key',
    summary: 'Create an API key',
    description:
      'Only this answer shows the key. A key cannot create a key with more access or scopes than it has. Without `scopes`, the new key has all scopes of its type, also those added later (`scopes` is then null). If its creator has a list of scopes, the new key has those of them that its type can have. The key stops working at `expiresAt`.',
    group: 'API keys',
    example: {
      input: { name: 'Website', keyType: 'project', scopes: ['flows:read', 'flows:write'] },
      output: { ...ApiKeyRecord.example, key: 'sy_live_…' },
    },
  },
  http: post('/v1/projects/:projectId/keys', 201),
  access: { scope: 'keys:write', subject: { entity: project, parameter: 'projectId' } },
  input: t.intersection([
    t.type({ projectId: cuid, name: text({ min: 1, max: 200 }), keyType: KeyTypeCodec }),
    t.partial({ scopes: nullable(t.readonlyArray(ScopeCodec)), expiresAt: nullable(instant) }),
  ]),
  output: ApiKeyWithSecret,
  failures: ['project-not-found', 'organization-not-partner'],
  entity: apiKey,
  creates: { id: (_, newIds) => newIds.id, isIdUsed: (state) => state !== null },
  decide: (input, _, { caller, subject, newSecrets, newIds: { id }, time }) => {
    const { projectId, name, keyType, expiresAt = null } = input;
    const scopes = input.scopes ?? defaultScopes(caller, keyType);
    const refusal = checkMayCreate(caller, keyType, scopes, subject.tenant) ?? expiryRefusal(expiresAt, time);
    if (refusal !== null) return E.left(refusal);
    return E.right([
      newEvent('ApiKeyCreated', {
        id,
        projectId,
        organizationId: subject.state?.organizationId ?? '',
        name,
        keyType,
        scopes: scopes && [...new Set(scopes)],
        ...storedFormOfKey(newSecrets.apiKey),
        createdByKeyId: makerOf(caller),
        expiresAt,
      }),
    ]);
  },
  afterAppend: revokeWithMaker,
  answer: ({ state, newSecrets }) => ({
    ...apiKeyRecord(state),
    lastUsedAt: null,
    ...(newSecrets === null ? {} : { key: newSecrets.apiKey }),
  }),
});

/**
 * Null (all scopes of the type) if the creator's scopes were never restricted; else those of the creator's that the
 * type can have.
 */
function defaultScopes(caller: Caller, keyType: KeyType): ReadonlyArray<Scope> | null {
  if (caller.hasAllScopes) return null;
  return [...scopesOfKeyType[keyType]].filter((scope) => caller.scopes.has(scope));
}

/** The creator was revoked meanwhile, so the new key is not returned. */
async function revokeWithMaker(id: string, effects: CommandEffects, caller: Caller): Promise<Failure | null> {
  const makerId = makerOf(caller);
  if (makerId === null) return null;
  const maker = await effects.load(apiKey, makerId);
  if (maker.state?.revoked !== true) return null;
  await effects.append({
    entity: apiKey,
    id,
    decide: ({ state }) =>
      E.right({
        events: apiKey.isLive(state, id) ? [newEvent('ApiKeyRevoked', { id, descendantKeyIds: null })] : [],
        tenant: null,
      }),
  });
  return makerRevoked;
}

function checkMayCreate(
  caller: Caller,
  keyType: KeyType,
  scopes: ReadonlyArray<Scope> | null,
  tenant: Tenant | null,
): Failure | null {
  if (!creatableTypes[caller.keyType].has(keyType)) {
    return failure('key-type-not-allowed', `A key of type ${caller.keyType} cannot create one of type ${keyType}.`);
  }
  if (keyType === 'partner' && tenant?.partnerId !== tenant?.organizationId) {
    return failure('organization-not-partner', 'The project belongs to an organization that is not a partner.');
  }
  if (scopes === null) return null;
  const foreign = scopes.find((scope) => !scopesOfKeyType[keyType].has(scope));
  if (foreign !== undefined) {
    const pointer = `/scopes/${scopes.indexOf(foreign)}`;
    const errors = [{ pointer, message: `is ${foreign}, which a key of type ${keyType} cannot have` }];
    return failure('invalid-input', `A key of type ${keyType} cannot have the scope ${foreign}.`, { errors });
  }
  const lacked = scopes.find((scope) => !caller.scopes.has(scope));
  return lacked === undefined
    ? null
    : failure('scope-required', `A key cannot give a scope that it does not have: ${lacked}.`);
}
