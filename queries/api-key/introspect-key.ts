import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { KeyTypeCodec } from '#domain/api-key/events.ts';
import { ApiKeyRecord } from '#domain/api-key/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { OrganizationRecord } from '#domain/organization/record.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import type { Tenant } from '#domain/shared/access.ts';

const Input = t.type({});
const Output = t.type(
  { apiKeyId: cuid, projectId: cuid, organizationId: cuid, keyType: KeyTypeCodec },
  'KeyIntrospection',
);

export const introspectKey = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>>({
  about: {
    name: 'introspect_key',
    summary: 'Read the id, project, organization and type of the presented key',
    group: 'API keys',
    example: {
      output: {
        apiKeyId: ApiKeyRecord.example.id,
        projectId: ProjectRecord.example.id,
        organizationId: OrganizationRecord.example.id,
        keyType: 'project',
      },
    },
  }, // The contract has this operation on the gateway. Administrators of keys use it on the control plane.
  onBothPlanes: true,
  http: get('/v1/me'),
  access: { scope: null, subject: null },
  input: Input,
  output: Output,
  failures: [],
  reads: {},
  answer: ({ caller: { keyId, projectId, organizationId, keyType } }) =>
    E.right({ body: { apiKeyId: keyId, projectId, organizationId, keyType } }),
});
