import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { apiKey, apiKeyRecord } from '#domain/api-key/api-key.ts';
import { KeyTypeCodec } from '#domain/api-key/events.ts';
import { ApiKeyWithSecret, ScopeCodec } from '#domain/api-key/record.ts';
import { keptOfSecret } from '#domain/api-key/secret.ts';
import { cuid, text } from '#domain/codecs.ts';
import { happened } from '#domain/event.ts';
import { examples } from '#domain/examples.ts';
import { type Failure, failure } from '#domain/failure.ts';
import { project } from '#domain/project/project.ts';
import { type Scope, scopesOfKeyType } from '#domain/scope.ts';
import type { Caller, KeyType, Tenant } from '#domain/tenancy.ts';
import { command } from '#operations/command.ts';
import { post } from '#operations/operation.ts';

/** The types of key that each type may make. */
const mayMake: Readonly<Record<KeyType, ReadonlySet<KeyType>>> = {
  admin: new Set(['admin', 'partner', 'organization', 'project']),
  partner: new Set(['partner', 'organization', 'project']),
  organization: new Set(['organization', 'project']),
  project: new Set(['project']),
};

export const createApiKey = command({
  name: 'create_api_key',
  summary: 'Make an API key',
  description: 'The answer holds the key: it is shown this once. A key makes keys of its own reach and scopes or less.',
  group: 'API keys',
  http: post('/v1/projects/:projectId/keys', 201),
  scope: 'keys:write',
  input: t.intersection([
    t.type({ projectId: cuid, name: text({ min: 1, max: 200 }), keyType: KeyTypeCodec }),
    t.partial({ scopes: t.readonlyArray(ScopeCodec) }),
  ]),
  output: ApiKeyWithSecret,
  failures: ['project-not-found', 'organization-not-partner'],
  example: {
    input: { name: 'Website', keyType: 'project', scopes: ['flows:read', 'flows:write'] },
    output: { ...examples.apiKey, key: 'sy_live_…' },
  },
  entity: apiKey,
  subject: { entity: project, parameter: 'projectId' },
  newId: (_, fresh) => fresh.id,
  isTaken: (state) => state !== null,
  decide: ({ projectId, name, keyType, scopes }, _, { caller, subject, secret, fresh: { id } }) => {
    const granted = scopes ?? defaultScopes(caller, keyType);
    const refusal = refused(caller, keyType, granted, subject.tenant);
    if (refusal !== null) return E.left(refusal);
    const { secretHash, prefix } = keptOfSecret(secret.key);
    const organizationId = subject.state?.organizationId ?? '';
    const contents = { id, projectId, organizationId, name, keyType, scopes: [...new Set(granted)] };
    return E.right([happened('ApiKeyCreated', { ...contents, secretHash, prefix })]);
  },
  answer: ({ state, secret }) => ({
    ...apiKeyRecord(state),
    lastUsedAt: null,
    ...(secret === null ? {} : { key: secret.key }),
  }),
});

/** The maker's own scopes, as far as the type can have them. */
function defaultScopes(caller: Caller, keyType: KeyType): ReadonlyArray<Scope> {
  return [...scopesOfKeyType[keyType]].filter((scope) => caller.scopes.has(scope));
}

function refused(
  caller: Caller,
  keyType: KeyType,
  scopes: ReadonlyArray<Scope>,
  tenant: Tenant | null,
): Failure | null {
  if (!mayMake[caller.keyType].has(keyType)) {
    return failure('key-type-not-allowed', `A key of type ${caller.keyType} cannot make one of type ${keyType}.`);
  }
  if (keyType === 'partner' && tenant?.partnerId !== tenant?.organizationId) {
    return failure('organization-not-partner', 'The project belongs to an organization that is no partner.');
  }
  const foreign = scopes.find((scope) => !scopesOfKeyType[keyType].has(scope));
  if (foreign !== undefined) {
    const pointer = `/scopes/${scopes.indexOf(foreign)}`;
    const errors = [{ pointer, message: `is ${foreign}, which a key of type ${keyType} cannot have` }];
    return failure('invalid-input', `A key of type ${keyType} cannot have the scope ${foreign}.`, { errors });
  }
  const lacked = scopes.find((scope) => !caller.scopes.has(scope));
  return lacked === undefined
    ? null
    : failure('scope-required', `A key can give no scope that it lacks itself: ${lacked}.`);
}
