import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  type AsOfInput,
  asOfInput,
  listAsOf,
  type PastList,
  type PastReadName,
  pastReadNames,
} from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { listInput, listRecords, type PageInput } from '#application/operations/paging.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { Scope, Tenant } from '#domain/shared/access.ts';
import type { FailureCode } from '#domain/shared/failure.ts';
import type { ReadCollection } from '#read-store/newest-claims.ts';
import type { Json } from '#shared/json/json.ts';
import { filteredBy, type ListFilters } from './list-filters.ts';
import { type ListOf, listOf } from './list-of.ts';

type Input = PageInput & AsOfInput;

/** What differs between kinds of resources. */
interface ListOfParent<Name extends string, Record> {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly path: string;
  readonly scope: Scope;
  /** The path parameter with its id is also the field that selects them. */
  readonly owner: {
    readonly collection: { readonly name: string };
    readonly parameter: string;
    readonly notFound: FailureCode;
  };
  /** The member of the answer that holds the list. */
  readonly member: Name;
  readonly record: t.Type<Record, unknown, unknown>;
  readonly example: Json;
  readonly collection: ReadCollection;
  /** Each is in an index with `owner.parameter`. They do not apply to `past`. */
  readonly filters?: ListFilters;
  /** Set if the list supports `asOf`. All items are in the stream of their owner. */
  readonly past?: PastList;
}

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
  filters = {},
  past,
}: ListOfParent<Name, Record>): Query<Input, Tenant, ListOf<Name, Record>, 'items', PastReadName> {
  const members = { ...listInput, ...filters, ...(past === undefined ? {} : asOfInput) };
  // TypeScript does not keep the name of a computed member in the type.
  const pageOf = (id: t.Mixed) => t.intersection([t.type({ [owner.parameter]: id }), t.partial(members)]) as unknown;
  return query<Input, Tenant, ListOf<Name, Record>, 'items', PastReadName>({
    about: { name, summary, group, example: { output: { [member]: [example] } } },
    http: get(path),
    access: { scope, subject: past === undefined ? owner : { ...owner, past: past.entity } },
    input: pageOf(cuid) as t.Type<Input, unknown, unknown>,
    output: listOf(member, record),
    failures: [owner.notFound],
    reads: { items: collection },
    services: pastReadNames,
    paged: true,
    answer: async ({ input, subject, request: { maxPageBytes: maxBytes } }, { read, ...reads }) => {
      const { asOf } = input;
      if (past !== undefined && asOf !== undefined) {
        const page = { past, notFound: owner.notFound, id: subject.id, name: member, input, asOf, maxBytes };
        return listAsOf<Name, Record>(reads, page);
      }
      const where = filteredBy(filters, input, { [owner.parameter]: subject.id });
      if (E.isLeft(where)) return where;
      return E.right(await listRecords<Name, Record>(read.items, { where: where.right, input, name: member }));
    },
  });
}
