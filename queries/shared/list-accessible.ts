import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { listItems, listRecords, pageInput } from '#application/queries/paging.ts';
import { type Query, query } from '#application/queries/query.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import type { DocumentValue } from '#read-store/read-store.ts';
import type { Json } from '#shared/json/json.ts';
import { type ListOf, listOf } from './list-of.ts';
import { tenantFilter } from './tenant-filter.ts';

const Page = t.partial(pageInput);
type Page = t.TypeOf<typeof Page>;

/** What one list differs in from another. */
interface ResourcesWithinReach<Name extends string, Record, Document extends DocumentValue> {
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly group: string;
  readonly path: string;
  readonly scope: Scope;
  /** The member of the answer that holds them. */
  readonly member: Name;
  readonly record: t.Type<Record, unknown, unknown>;
  readonly example: Json;
  /** Makes the record of a document. Default: its member `record`, as it is stored. */
  readonly recordOf?: (document: Document) => Record;
  /** Indexed by what `withinReach` asks of each type of key that can have the scope. */
  readonly collection: { readonly name: string };
}

/** Lists all resources of a kind that the key reaches, oldest first, by the page. */
export function listAccessible<Name extends string, Record, Document extends DocumentValue>({
  member,
  record,
  path,
  example,
  recordOf,
  collection,
  ...told
}: ResourcesWithinReach<Name, Record, Document>): Query<Page, Tenant, ListOf<Name, Record>, 'items'> {
  return query<Page, Tenant, ListOf<Name, Record>, 'items'>({
    ...told,
    http: get(path),
    input: Page,
    output: listOf(member, record),
    failures: [],
    example: { output: { [member]: [example] } },
    reads: { items: collection },
    subject: null,
    paged: true,
    answer: async ({ input, caller, read }) => {
      const list = { where: tenantFilter(caller), input, name: member };
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
