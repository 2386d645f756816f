import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/codecs.ts';
import type { FailureCode } from '#domain/shared/failure.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { TenantDocument } from '#projections/document.ts';
import type { Json } from '#shared/json/json.ts';

/** What one resource's reading differs in from another's. */
interface OneResource<Parameter extends string, Record> {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly path: string;
  readonly scope: Scope;
  /** The path parameter that holds its id. */
  readonly parameter: Parameter;
  readonly record: t.Type<Record, unknown, unknown>;
  readonly notFound: FailureCode;
  readonly example: Json;
  readonly collection: { readonly name: string };
}

type ById = { readonly [parameter: string]: string };

/** Reads one resource by its id: its record, with its revision. */
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
}: OneResource<Parameter, Record>): Query<ById, TenantDocument<Record>, Record> {
  return query<ById, TenantDocument<Record>, Record>({
    name,
    summary,
    group,
    http: get(path),
    scope,
    input: t.type({ [parameter]: cuid }),
    output: record,
    failures: [notFound],
    example: { output: example },
    reads: {},
    subject: { collection, parameter, notFound },
    hasRevision: true,
    answer: ({ subject: { record, head } }) => E.right({ body: record, revision: head.revision }),
  });
}
