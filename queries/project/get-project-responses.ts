import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { projects } from '#projections/access/projects.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { encodeJson } from '#shared/json/json.ts';

export const StoredResponsesSummary = t.type(
  {
    projectId: cuid,
    count: t.number,
    /** The bytes of their items as they are stored, with those of deleted responses that others still need. */
    bytes: t.number,
    /** Null without a response. */
    oldestAt: nullable(timestamp),
    /** The quota of a project. When it is full, the oldest responses are removed. */
    quotaBytes: t.number,
    ttlDays: t.number,
  },
  'StoredResponsesSummary',
);

export type StoredResponsesSummary = t.TypeOf<typeof StoredResponsesSummary>;

export const getProjectResponses = query<{ projectId: string }, Tenant, StoredResponsesSummary, never, 'responses'>({
  about: {
    name: 'get_project_responses',
    summary: 'Read how much is stored of a project’s conversations',
    description:
      'The number, the bytes and the age of the responses that `POST /v1/responses` has stored, and nothing of what they say.',
    group: 'Responses',
    example: {
      output: {
        projectId: 'clh3v9x2k0000qwer1234asdf',
        count: 12,
        bytes: 48_213,
        oldestAt: '2026-01-05T09:30:00.000Z',
        quotaBytes: 1_073_741_824,
        ttlDays: 30,
      },
    },
  },
  http: get('/v1/projects/:projectId/responses'),
  access: {
    scope: 'gateway:read',
    subject: { collection: projects, parameter: 'projectId', notFound: 'project-not-found' },
  },
  input: t.type({ projectId: cuid }),
  output: StoredResponsesSummary,
  failures: ['project-not-found'],
  reads: {},
  services: ['responses'],
  answer: async ({ input: { projectId } }, { responses }) => {
    const { count, bytes, oldestAt } = await responses.amountOf(projectId);
    const oldest = oldestAt === null ? null : new Date(oldestAt).toISOString();
    const { quotaBytes, ttlDays } = responses;
    return E.right({ body: encodeJson({ projectId, count, bytes, oldestAt: oldest, quotaBytes, ttlDays }) });
  },
});
