import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { listRecords, type PageInput, pageInput } from '#application/queries/paging.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/codecs.ts';
import type { FailureCode } from '#domain/shared/failure.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import type { Json } from '#shared/json/json.ts';
import { type ListOf, listOf } from './list-of.ts';

/** What one list differs in from another. */
interface ResourcesOf<Name extends string, Record> {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly path: string;
  readonly scope: Scope;
  /** What they belong to: the path parameter that holds its id is also the field by which they are listed. */
  readonly owner: {
    readonly collection: { readonly name: string };
    readonly parameter: string;
    readonly notFound: FailureCode;
  };
  /** The member of the answer that holds them. */
  readonly member: Name;
  readonly record: t.Type<Record, unknown, unknown>;
  readonly example: Json;
  readonly collection: { readonly name: string };
}

/** Lists the resources that belong to one other, oldest first, by the page. */
export function listByParent<Name extends string, Record>({
  name,
  summary,
  group,
  path,
  scope,
  owner,
  member,
  record,
  example,
  collection,
}: ResourcesOf<Name, Record>): Query<PageInput, Tenant, ListOf<Name, Record>, 'items'> {
  // The type of an object with a computed member does not name it.
  const pageOf = (id: t.Mixed) => t.intersection([t.type({ [owner.parameter]: id }), t.partial(pageInput)]) as unknown;
  return query<PageInput, Tenant, ListOf<Name, Record>, 'items'>({
    name,
    summary,
    group,
    http: get(path),
    scope,
    input: pageOf(cuid) as t.Type<PageInput, unknown, unknown>,
    output: listOf(member, record),
    failures: [owner.notFound],
    example: { output: { [member]: [example] } },
    reads: { items: collection },
    subject: owner,
    paged: true,
    answer: async ({ input, subject, read }) =>
      E.right(
        await listRecords<Name, Record>(read.items, {
          where: { [owner.parameter]: subject.id },
          input,
          name: member,
        }),
      ),
  });
}
