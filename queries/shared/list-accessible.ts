import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { listInput, listItems, listRecords, type PageInput, tenantFilter } from '#application/operations/paging.ts';
import { type Query, query } from '#application/queries/query.ts';
import type { Scope, Tenant } from '#domain/shared/access.ts';
import type { ReadCollection } from '#read-store/newest-claims.ts';
import type { DocumentValue } from '#read-store/read-store.ts';
import type { Json } from '#shared/json/json.ts';
import { filteredBy, type ListFilters } from './list-filters.ts';
import { type ListOf, listOf } from './list-of.ts';

/** What differs between kinds of resources. */
interface AccessibleList<Name extends string, Record, Document extends DocumentValue> {
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly group: string;
  readonly path: string;
  readonly scope: Scope;
  /** The member of the answer that holds the list. */
  readonly member: Name;
  readonly record: t.Type<Record, unknown, unknown>;
  readonly example: Json;
  /** Default: the stored member `record`. */
  readonly recordOf?: (document: Document) => Record;
  readonly filters?: ListFilters;
  /** Needs indexes for the `tenantFilter` of each type of key that can have the scope, with and without each filter. */
  readonly collection: ReadCollection;
}

/** Lists, in pages, all resources of a kind that the key has access to. */
export function listAccessible<Name extends string, Record, Document extends DocumentValue>({
  member,
  record,
  path,
  example,
  recordOf,
  collection,
  filters = {},
  scope,
  ...about
}: AccessibleList<Name, Record, Document>): Query<PageInput, Tenant, ListOf<Name, Record>, 'items'> {
  // TypeScript does not keep the names of computed members in the type.
  const input = t.partial({ ...listInput, ...filters }) as unknown;
  return query<PageInput, Tenant, ListOf<Name, Record>, 'items'>({
    about: { ...about, example: { output: { [member]: [example] } } },
    http: get(path),
    access: { scope, subject: null },
    input: input as t.Type<PageInput, unknown, unknown>,
    output: listOf(member, record),
    failures: [],
    reads: { items: collection },
    paged: true,
    answer: async ({ input, request: { caller } }, { read }) => {
      const where = filteredBy(filters, input, tenantFilter(caller));
      if (E.isLeft(where)) return where;
      const list = { where: where.right, input, name: member };
      if (recordOf === undefined) return E.right(await listRecords<Name, Record>(read.items, list));
      return E.right(
        await listItems<Document, Name, Record>(
          read.items,
          list,
          async () =>
            ({ value }) =>
              recordOf(value),
        ),
      );
    },
  });
}
