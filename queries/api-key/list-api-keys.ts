import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { listInput, listItems } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { ApiKeyRecord } from '#domain/api-key/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { type ApiKeyDocument, apiKeys } from '#projections/access/api-keys.ts';
import { type ProjectDocument, projects } from '#projections/access/projects.ts';
import { filteredBy, nameFilter } from '#queries/shared/list-filters.ts';
import { listOf } from '#queries/shared/list-of.ts';

const filters = { name: nameFilter };
const Input = t.intersection([t.type({ projectId: cuid }), t.partial({ ...listInput, ...filters })]);
const Output = listOf('keys', ApiKeyRecord);

export const listApiKeys = query<
  t.TypeOf<typeof Input>,
  ProjectDocument,
  t.TypeOf<typeof Output>,
  'apiKeys',
  'keyUsage'
>({
  about: {
    name: 'list_api_keys',
    summary: "List a project's API keys",
    description: 'The keys that are not revoked, without their secrets.',
    group: 'API keys',
    example: { output: { keys: [ApiKeyRecord.example] } },
  },
  http: get('/v1/projects/:projectId/keys'),
  access: {
    scope: 'keys:read',
    subject: { collection: projects, parameter: 'projectId', notFound: 'project-not-found' },
  },
  input: Input,
  output: Output,
  failures: ['project-not-found'],
  reads: { apiKeys },
  services: ['keyUsage'],
  paged: true,
  answer: async ({ input, subject }, { read, keyUsage }) => {
    const where = filteredBy(filters, input, { projectId: subject.id });
    if (E.isLeft(where)) return where;
    const list = { where: where.right, input, name: 'keys' } as const;
    return E.right(
      await listItems<ApiKeyDocument, 'keys', ApiKeyRecord>(read.apiKeys, list, async (page) => {
        const lastUsed = await keyUsage.lastUsed(page.map(({ id }) => id));
        return ({ id, record }) => ({ ...record.parse(), lastUsedAt: lastUsed.get(id) ?? null });
      }),
    );
  },
});
