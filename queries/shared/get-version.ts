import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type AsOfInput, asOfInput, type PastOfRecord, recordAsOf } from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { type FailureCode, failure } from '#domain/shared/failure.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { TenantDocument } from '#projections/document.ts';
import type { Json } from '#shared/json/json.ts';

/** A version's document: its revision is that of what it is a version of. */
type VersionDocument<Record> = Omit<TenantDocument<Record>, 'revision'>;

/** What one kind of version differs in from another. */
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
  /** What it is a version of. */
  readonly of: {
    readonly collection: { readonly name: string };
    readonly id: (version: Omit<Document, 'record'>) => string;
  };
  /** Its past, read from the stream of what it is a version of. */
  readonly past: PastOfRecord<Record>;
}

type ById = AsOfInput & { readonly versionId: string };

/** Reads one version by its id: its record, with the revision of what it is a version of. */
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
}: OneVersion<Document, Record>): Query<ById, Document, Record, 'versions' | 'wholes'> {
  return query<ById, Document, Record, 'versions' | 'wholes'>({
    name,
    summary,
    group,
    http: get(path),
    scope,
    input: t.intersection([t.type({ versionId: cuid }), t.partial(asOfInput)]),
    output: record,
    failures: [notFound],
    example: { output: example },
    reads: { versions: collection, wholes: of.collection },
    subject: { collection, parameter: 'versionId', notFound, past: past.entity },
    hasRevision: true,
    answer: async (context) => {
      const { subject, read } = context;
      const { versionId, asOf } = context.input;
      if (asOf !== undefined) return recordAsOf(context, { ...past, notFound }, versionId, asOf);
      const whole = await read.wholes.get<TenantDocument<object>>(of.id(subject.head));
      // Read after the whole, so that the ETag is never newer than the record: else an If-Match could undo unseen
      // changes.
      const version = await read.versions.get<Document>(versionId, 'fresh');
      if (whole === null || version === null)
        return E.left(failure(notFound, `Version ${versionId} is not there any more.`));
      return E.right({ body: version.record, revision: whole.head.revision });
    },
  });
}
