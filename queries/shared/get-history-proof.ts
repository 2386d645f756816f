import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { type AnyQuery, type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { exampleDigest, InclusionProof } from '#domain/history/digest.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { streamName } from '#domain/shared/entity.ts';
import { failure } from '#domain/shared/failure.ts';

/** Adds after each history the query that proves it. */
export function withProofs(queries: ReadonlyArray<AnyQuery>): ReadonlyArray<AnyQuery> {
  return queries.flatMap((query) => (query.http.path.endsWith('/history') ? [query, getHistoryProof(query)] : [query]));
}

/** Proves that the stream is in the newest signed digest. */
function getHistoryProof(history: AnyQuery): Query<object, Tenant, InclusionProof, never, 'proveInclusion'> {
  const { about, access } = history;
  const { subject } = access;
  if (subject === null || !('entity' in subject)) throw new Error(`${about.name} reads no stream.`);
  const { entity, parameter, idCodec = cuid } = subject;
  return query<object, Tenant, InclusionProof, never, 'proveInclusion'>({
    about: {
      name: `${about.name}_proof`,
      summary: about.summary.replace(/^Read the history/, 'Prove the history'),
      description:
        'The newest signed digest, the last event of the stream in it, and the inclusion proof (RFC 9162) that leads from ' +
        'this event to the root of the digest. `docs/audit.md` shows how to check it.',
      group: about.group,
      example: { output: exampleProof },
    },
    ...(history.plane === undefined ? {} : { plane: history.plane }),
    http: get(`${history.http.path}/proof`),
    access: { scope: access.scope, subject },
    input: t.type({ [parameter]: idCodec }) as unknown as t.Type<object, unknown, unknown>,
    output: InclusionProof,
    failures: [subject.notFound, 'no-digest'],
    reads: {},
    services: ['proveInclusion'],
    answer: async ({ subject: { id } }, { proveInclusion }) => {
      const proof = await proveInclusion(streamName(entity, id));
      return proof === null ? E.left(noDigest) : E.right({ body: proof });
    },
  });
}

const noDigest = failure(
  'no-digest',
  'No digest has this stream: the service signs no digests, or has signed none since the stream began. It signs one every hour, and at once with POST /v1/digests.',
);

const exampleProof: InclusionProof = {
  digest: exampleDigest,
  head: { hash: 'e4'.repeat(32), revision: 3, stream: 'flow-cz7t3m1kx0q4v8d2w6b9n5p0' },
  index: 117,
  path: ['0d'.repeat(32), '77'.repeat(32)],
};
