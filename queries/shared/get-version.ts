import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  type AsOfInput,
  asOfInput,
  type PastOfRecord,
  type PastReadName,
  pastReadNames,
  recordAsOf,
} from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { Scope } from '#domain/shared/access.ts';
import { type FailureCode, failure } from '#domain/shared/failure.ts';
import type { TenantDocument } from '#projections/document.ts';
import type { Json } from '#shared/json/json.ts';

/** A version has no revision, because the whole that it is a version of has one. */
type VersionDocument<Record> = Omit<TenantDocument<Record>, 'revision'>;

/** What differs between kinds of versions. */
interface OneVersion<Document, Record> {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly path: `/v1/${string}/:versionId`;
  readonly scope: Scope;
  readonly record: t.Type<Record, unknown, unknown>;
  readonly notFound: FailureCode;
  readonly example: Json;
  readonly collection: { readonly name: string };
  /** The whole, such as the flow. */
  readonly of: {
    readonly collection: { readonly name: string };
    readonly id: (version: Omit<Document, 'record'>) => string;
  };
  /** The past of the version, from the stream of the whole. */
  readonly past: PastOfRecord<Record>;
}

type ById = AsOfInput & { readonly versionId: string };

/** Answers the record with the revision of the whole. */
export function getVersion<Document extends VersionDocument<Record>, Record>({
  name,
  summary,
  group,
  path,
  scope,
  record,
  notFound,
  example,
  collection,
  of,
  past,
}: OneVersion<Document, Record>): Query<ById, Document, Record, 'versions' | 'wholes', PastReadName> {
  return query<ById, Document, Record, 'versions' | 'wholes', PastReadName>({
    about: { name, summary, group, example: { output: example } },
    http: get(path),
    access: { scope, subject: { collection, parameter: 'versionId', notFound, past: past.entity } },
    input: t.intersection([t.type({ versionId: cuid }), t.partial(asOfInput)]),
    output: record,
    failures: [notFound],
    reads: { versions: collection, wholes: of.collection },
    services: pastReadNames,
    hasRevision: true,
    answer: async ({ input: { versionId, asOf }, subject }, { read, ...reads }) => {
      if (asOf !== undefined) return recordAsOf(reads, { ...past, notFound }, versionId, asOf);
      const whole = await read.wholes.get<TenantDocument<object>>(of.id(subject.head));
      // The version is read after the whole, so that the ETag is never newer than the record. Otherwise a request with
      // If-Match could undo changes that its client has not seen.
      const version = await read.versions.get<Document>(versionId, 'fresh');
      if (whole === null || version === null)
        return E.left(failure(notFound, `Version ${versionId} does not exist any more.`));
      return E.right({ body: version.record, revision: whole.head.revision });
    },
  });
}
