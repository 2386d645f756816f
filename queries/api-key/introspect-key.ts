import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { KeyIntrospection } from '#domain/api-key/record.ts';
import type { Tenant } from '#domain/shared/access.ts';

const Input = t.type({});
export const introspectKey = query<t.TypeOf<typeof Input>, Tenant, KeyIntrospection>({
  about: {
    name: 'introspect_key',
    summary: 'Read the id, project, organization and type of the presented key',
    group: 'API keys',
    example: { output: KeyIntrospection.example },
  },
  // The contract has this operation on the gateway. Administrators of keys use it on the control plane.
  onBothPlanes: true,
  http: get('/v1/me'),
  access: { scope: null, subject: null },
  input: Input,
  output: KeyIntrospection,
  failures: [],
  reads: {},
  answer: ({ request: { caller } }) => {
    const { keyId, projectId, organizationId, keyType } = caller;
    return E.right({ body: { apiKeyId: keyId, projectId, organizationId, keyType } });
  },
});
