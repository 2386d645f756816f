import * as t from 'io-ts';
import type { Audience } from '#domain/shared/access.ts';
import { spendTurn, turn } from '#exchange/turns.ts';
import type { DocumentPage, DocumentValue, PageKey, PageRequest, Where } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { enumeration } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { wholeNumber } from '#shared/codecs/number.ts';
import { type EncodedJson, encodeJson, encodeObject } from '#shared/json/json.ts';

export interface CollectionReader {
  /** @see ReadStore.get */
  readonly get: <Value extends DocumentValue>(id: string, fresh?: 'fresh') => Promise<StoredDocument<Value> | null>;
  /** @see ReadStore.list; of documents that claim the same resource, only the newest does (`keepNewestClaims`) */
  readonly list: <Value extends DocumentValue>(where: Where, page: PageRequest) => Promise<DocumentPage<Value>>;
}

/** The JSON value or its text. One resource has a revision, and a page has the next cursor. */
export interface QueryAnswer<Output> {
  readonly body: Output | EncodedJson<Output>;
  readonly revision?: number;
  readonly nextCursor?: string;
}

/** Also the default of `limit`. */
export const maxPageItems = 1_000;
/** Maximum size of a page, as it is stored. */
export const maxPageBytes = 2 * 1024 * 1024;
/** The expected length of a page before it is read, to limit the pages that begin in one turn. */
const expectedCharacters = 64 * 1024;

const cursorForm = /^(\d{1,16})\.([0-9a-zA-Z_-]{1,200})$/;

function decodeCursor(cursor: unknown): PageKey | null {
  if (typeof cursor !== 'string' || cursor.length > 400) return null;
  const [, order, id] = cursorForm.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const key = id === undefined ? null : { order: Number(order), id };
  return key !== null && encodeCursor(key) === cursor ? key : null;
}

const cursorOf = ({ next }: Pick<DocumentPage<never>, 'next'>) => (next === null ? null : encodeCursor(next));

/** The cursor names the place after which the next page begins. */
export function encodeCursor({ order, id }: PageKey): string {
  return Buffer.from(`${order}.${id}`).toString('base64url');
}

/** The `nextCursor` of the page before. */
const Cursor = withJsonSchema(
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

/** Members of every list's input. */
export const pageInput = { limit: wholeNumber(1, maxPageItems), cursor: Cursor };

/** `-createdAt` is from the newest. */
const ListSort = withJsonSchema(enumeration('ListSort', 'createdAt', '-createdAt'), {
  type: 'string',
  enum: ['createdAt', '-createdAt'],
  description: 'Oldest first, or newest first with `-createdAt`. Default `createdAt`',
});

/** The input of every list of resources. */
export const listInput = { ...pageInput, sort: ListSort };

/** Member of every list's answer. */
export const nextCursorOutput = t.partial({
  nextCursor: withJsonSchema(new t.StringType(), {
    type: 'string',
    description: 'The cursor of the next page; absent at the end',
  }),
});

export interface PageInput {
  readonly limit?: number | undefined;
  readonly cursor?: PageKey | undefined;
  readonly sort?: t.TypeOf<typeof ListSort> | undefined;
}

interface ListedPage<Name extends string> {
  readonly where: Where;
  readonly input: PageInput;
  /** The member of the answer that holds the items. */
  readonly name: Name;
}

type PageBody<Name extends string, Item> = Record<Name, ReadonlyArray<Item>> & { nextCursor?: string };

/** Lists records unparsed, as they are stored. */
export async function listRecords<Name extends string, Item>(
  collection: CollectionReader,
  list: ListedPage<Name>,
): Promise<QueryAnswer<PageBody<Name, Item>>> {
  const page = await readPage<{ readonly record: Item }>(collection, list);
  return pageAnswer(
    list.name,
    page.documents.map(({ record }) => record),
    cursorOf(page),
  );
}

/** @param itemOf builds an item after the data of the whole page is loaded */
export async function listItems<Value extends DocumentValue, Name extends string, Item>(
  collection: CollectionReader,
  list: ListedPage<Name>,
  itemOf: (page: ReadonlyArray<StoredDocument<Value>>) => Promise<(document: StoredDocument<Value>) => Item>,
): Promise<QueryAnswer<PageBody<Name, Item>>> {
  const page = await readPage<Value>(collection, list);
  return pageAnswer(list.name, await encodeItems(page.documents, await itemOf(page.documents)), cursorOf(page));
}

async function readPage<Value extends DocumentValue>(
  collection: CollectionReader,
  { where, input: { limit = maxPageItems, cursor, sort } }: ListedPage<string>,
): Promise<DocumentPage<Value>> {
  const after = cursor === undefined ? {} : { after: cursor };
  const order = sort === '-createdAt' ? { newestFirst: true } : {};
  return readInTurn(collection, where, { limit, maxBytes: maxPageBytes, ...order, ...after });
}

/** Reads pages in turn, so that many concurrent pages do not block other requests. */
export async function readInTurn<Value extends DocumentValue>(
  collection: CollectionReader,
  where: Where,
  request: PageRequest,
): Promise<DocumentPage<Value>> {
  const owner = currentWorkOwner();
  await turn(owner, 'list', expectedCharacters);
  const page = await collection.list<Value>(where, request);
  const unexpected = page.documents.reduce((sum, { text }) => sum + text.length, -expectedCharacters);
  spendTurn(owner, 'list', unexpected);
  return page;
}

/**
 * Encodes the items and yields to other requests in between, because parsing and encoding a whole page takes tens of
 * milliseconds.
 */
async function encodeItems<Value extends DocumentValue, Item>(
  documents: ReadonlyArray<StoredDocument<Value>>,
  itemOf: (document: StoredDocument<Value>) => Item,
): Promise<ReadonlyArray<EncodedJson<Item>>> {
  const owner = currentWorkOwner();
  const items: EncodedJson<Item>[] = [];
  for (const document of documents) {
    await turn(owner, 'list', document.text.length);
    items.push(encodeJson(itemOf(document)));
  }
  return items;
}

/** @param nextCursor of the next page; null at the end */
export function pageAnswer<Name extends string, Item>(
  name: Name,
  items: ReadonlyArray<EncodedJson<Item>>,
  nextCursor: string | null,
): QueryAnswer<PageBody<Name, Item>> {
  if (nextCursor === null) return { body: encodeObject({ [name]: items }) };
  return { body: encodeObject({ [name]: items, nextCursor }), nextCursor };
}

/** Selects the documents that a key has access to, with an index: see `canAccess`. */
export function tenantFilter({ keyType, organizationId, projectId }: Audience): Where {
  switch (keyType) {
    case 'admin':
      return {};
    case 'partner':
      return { partnerId: organizationId };
    case 'organization':
      return { organizationId };
    case 'project':
      return { projectId };
  }
}
