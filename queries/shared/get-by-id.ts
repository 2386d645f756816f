import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  type AsOfInput,
  answerAsOf,
  asOfInput,
  type PastOfRecord,
  type PastReadName,
  pastReadNames,
} from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { Scope } from '#domain/shared/access.ts';
import type { FailureCode } from '#domain/shared/failure.ts';
import type { TenantDocument } from '#projections/document.ts';
import type { Json } from '#shared/json/json.ts';

/** What differs between kinds of resources. */
interface OneResource<Parameter extends string, Record> {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly path: string;
  readonly scope: Scope;
  readonly parameter: Parameter;
  readonly record: t.Type<Record, unknown, unknown>;
  readonly notFound: FailureCode;
  readonly example: Json;
  readonly collection: { readonly name: string };
  readonly past: PastOfRecord<Record>;
}

type ById = AsOfInput & { readonly [parameter: string]: unknown };

/** Answers the record with its revision. */
export function getById<Parameter extends string, Record>({
  name,
  summary,
  group,
  path,
  scope,
  parameter,
  record,
  notFound,
  example,
  collection,
  past,
}: OneResource<Parameter, Record>): Query<ById, TenantDocument<Record>, Record, never, PastReadName> {
  // TypeScript does not keep the name of a computed member in the type.
  const input = t.intersection([t.type({ [parameter]: cuid }), t.partial(asOfInput)]) as unknown;
  return query<ById, TenantDocument<Record>, Record, never, PastReadName>({
    about: { name, summary, group, example: { output: example } },
    http: get(path),
    access: { scope, subject: { collection, parameter, notFound, past: past.entity } },
    input: input as t.Type<ById, unknown, unknown>,
    output: record,
    failures: [notFound],
    reads: {},
    services: pastReadNames,
    hasRevision: true,
    answer: answerAsOf({ ...past, notFound }, ({ subject }) =>
      E.right({ body: subject.record, revision: subject.head.revision }),
    ),
  });
}
