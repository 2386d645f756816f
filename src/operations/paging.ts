import * as t from 'io-ts';
import { describedAs, wholeNumber } from '#domain/codecs.ts';
import type { DocumentValue, PageKey, ReadStore, StoredDocument, Where } from '#read-store/read-store.ts';
import type { QueryAnswer } from './query.ts';

/** Items in a page at most, and without a `limit`. */
export const maxPageItems = 1_000;
/** Stored bytes in a page at most. */
export const maxPageBytes = 8 * 1024 * 1024;

const cursorForm = /^(\d{1,16})\.([0-9a-zA-Z_-]{1,200})$/;

function decodeCursor(cursor: unknown): PageKey | null {
  if (typeof cursor !== 'string' || cursor.length > 400) return null;
  const [, order, id] = cursorForm.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const key = id === undefined ? null : { order: Number(order), id };
  return key !== null && encodeCursor(key) === cursor ? key : null;
}

function encodeCursor({ order, id }: PageKey): string {
  return Buffer.from(`${order}.${id}`).toString('base64url');
}

/** Where a page begins: the `nextCursor` of the page before. */
export const Cursor = describedAs(
  new t.Type<PageKey, string, unknown>(
    'cursor',
    (value): value is PageKey => typeof value === 'object' && value !== null,
    (value, context) => {
      const key = decodeCursor(value);
      return key === null ? t.failure(value, context, 'must be the nextCursor of an earlier page') : t.success(key);
    },
    encodeCursor,
  ),
  { type: 'string', description: 'The nextCursor of the page before' },
);

/** The members that every list takes. */
export const pageInput = { limit: wholeNumber(1, maxPageItems), cursor: Cursor };

/** The member that every list may answer. */
export const nextCursorOutput = t.partial({
  nextCursor: describedAs(new t.StringType(), {
    type: 'string',
    description: 'Begins the next page; absent at the end',
  }),
});

/** The input of a list: what page. */
export interface PageInput {
  readonly limit?: number | undefined;
  readonly cursor?: PageKey | undefined;
}

/** One page of documents, oldest first, as a list answers it. @param name the member that holds the items */
export async function listPage<Value extends DocumentValue, Name extends string, Item>(
  documents: ReadStore,
  list: {
    readonly collection: string;
    readonly where: Where;
    readonly input: PageInput;
    readonly name: Name;
    readonly item: (document: StoredDocument<Value>) => Item;
  },
): Promise<QueryAnswer<Record<Name, ReadonlyArray<Item>> & { nextCursor?: string }>> {
  const { limit = maxPageItems, cursor } = list.input;
  const page = await documents.list<Value>(list.collection, list.where, {
    limit,
    maxBytes: maxPageBytes,
    ...(cursor === undefined ? {} : { after: cursor }),
  });
  // A computed member's type is wider than its name.
  const items = { [list.name]: page.documents.map(list.item) } as unknown as Record<Name, ReadonlyArray<Item>>;
  if (page.next === null) return { body: items };
  const nextCursor = encodeCursor(page.next);
  return { body: { ...items, nextCursor }, nextCursor };
}
