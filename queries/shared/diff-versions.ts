import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { Comparison } from '#application/diffs/compare-versions.ts';
import { get } from '#application/operations/operation.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { canAccess, notFound, type Scope } from '#domain/shared/access.ts';
import type { FailureCode } from '#domain/shared/failure.ts';
import type { TenantDocument } from '#projections/document.ts';
import { JsonPatch } from '#shared/codecs/json-patch.ts';
import { text } from '#shared/codecs/text.ts';
import type { JsonObject } from '#shared/json/json.ts';

const Input = t.type({ versionId: cuid, otherVersionId: cuid });
type Input = t.TypeOf<typeof Input>;

const Diff = t.type({ patch: JsonPatch, summary: text() }, 'VersionDiff');
type Diff = t.TypeOf<typeof Diff>;

type VersionDocument<Record> = Omit<TenantDocument<Record>, 'revision'>;

/** What differs between kinds of versions. */
interface VersionDiff {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly group: string;
  readonly path: `/v1/${string}/:versionId/diff/:otherVersionId`;
  readonly scope: Scope;
  readonly notFound: FailureCode;
  readonly collection: { readonly name: string };
  readonly example: JsonObject;
  readonly kind: Comparison['kind'];
}

export function diffVersions<Record>({
  path,
  notFound: code,
  collection,
  example,
  kind,
  scope,
  ...about
}: VersionDiff): Query<Input, VersionDocument<Record>, Diff, 'versions', 'comparer'> {
  return query<Input, VersionDocument<Record>, Diff, 'versions', 'comparer'>({
    about: { ...about, example: { output: example } },
    http: get(path),
    access: { scope, subject: { collection, parameter: 'versionId', notFound: code } },
    input: Input,
    output: Diff,
    failures: [code, 'too-many-calls'],
    reads: { versions: collection },
    services: ['comparer'],
    answer: async ({ input: { otherVersionId }, subject, request: { caller } }, { read, comparer }) => {
      const other = await read.versions.get<VersionDocument<Record>>(otherVersionId);
      if (other === null || !canAccess(caller, other.head))
        return E.left(notFound(code, JSON.stringify(otherVersionId)));
      const comparison = { kind, before: subject.record.text, after: other.record.text };
      const compared = await comparer.compare<Diff>(comparison);
      return E.isLeft(compared) ? compared : E.right({ body: compared.right });
    },
  });
}
