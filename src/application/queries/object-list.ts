import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { CollectionReader, QueryAnswer } from '#application/operations/paging.ts';
import { maxPageBytes, readInTurn } from '#application/operations/paging.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { Where } from '#read-store/read-store.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { wholeNumber } from '#shared/codecs/number.ts';
import { text } from '#shared/codecs/text.ts';
import { type EncodedJson, encodeObject } from '#shared/json/json.ts';

/** Also the default of `limit`, as for OpenAI's files. */
const maxObjects = 10_000;

/** The input of a list in OpenAI's API. */
export const ObjectListInput = t.partial({
  after: withJsonSchema(new t.StringType(), {
    type: 'string',
    description: 'The last_id of the page before; the object may be deleted since',
  }),
  limit: wholeNumber(1, maxObjects),
});

export type ObjectListInput = t.TypeOf<typeof ObjectListInput>;

/** `desc` is newest first. */
export const ListOrder = enumeration('ListOrder', 'asc', 'desc');

/** A list in OpenAI's form. */
export interface ObjectList<Item> {
  readonly object: 'list';
  readonly data: ReadonlyArray<Item>;
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

export function objectList<Item>(item: t.Type<Item, unknown, unknown>): t.Type<ObjectList<Item>, unknown, unknown> {
  return t.type(
    {
      object: t.literal('list'),
      data: t.readonlyArray(item),
      first_id: nullable(text()),
      last_id: nullable(text()),
      has_more: t.boolean,
    },
    `${item.name}List`,
  );
}

/** A document with the id of its record. A deleted record keeps its place, so that a page can begin after it. */
export interface ListedDocument<Item> {
  readonly projectId: string | null;
  /** The list of the project; null if the record is deleted. */
  readonly listedIn: string | null;
  /** Null once it was deleted. */
  readonly record: Item | null;
}

export interface ObjectListOptions<Document> {
  /** The condition. An index begins with it. */
  readonly where?: Where;
  /**
   * A list other than the project's. The query has already checked the access to it. The id of a document is then
   * `{list}.{id of its record}`.
   */
  readonly list?: string;
  /** Default: oldest first. */
  readonly newestFirst?: boolean;
  /** Default: all documents are in the list. */
  readonly isShown?: (head: Omit<Document, 'record'>) => boolean;
}

/** The default order is oldest first. @returns invalid-input if `after` was never in the list */
export async function listObjects<Item, Document extends ListedDocument<Item> = ListedDocument<Item>>(
  collection: CollectionReader,
  projectId: string,
  { after, limit = maxObjects }: ObjectListInput,
  { where = {}, list, newestFirst = false, isShown }: ObjectListOptions<Document> = {},
): Promise<E.Either<Failure, QueryAnswer<ObjectList<Item>>>> {
  const idPrefix = list === undefined ? '' : `${list}.`;
  const place = after === undefined ? null : await collection.get<Document>(`${idPrefix}${after}`);
  if (after !== undefined && (place?.head as ListedDocument<Item> | undefined)?.projectId !== projectId) {
    return E.left(unknownPlace);
  }
  const request = { limit, newestFirst, maxBytes: maxPageBytes, ...(place === null ? {} : { after: place }) };
  const page = await readInTurn<Document>(collection, { ...where, listedIn: list ?? projectId }, request);
  const shown = isShown === undefined ? page.documents : page.documents.filter(({ head }) => isShown(head));
  return E.right({
    body: encodeObject({
      object: 'list',
      data: shown.map(({ record }) => record),
      first_id: shown[0]?.id.slice(idPrefix.length) ?? null,
      last_id: shown.at(-1)?.id.slice(idPrefix.length) ?? null,
      has_more: page.next !== null,
    }) as EncodedJson<ObjectList<Item>>,
  });
}

const unknownPlace = invalidInput([{ pointer: '/after', message: 'must be the last_id of an earlier page' }]);

/** A deleted object in OpenAI's form. */
export interface DeletedObject<Kind extends string> {
  readonly id: string;
  readonly object: Kind;
  readonly deleted: true;
}

export function deletedObject<Kind extends string>(kind: Kind): t.Type<DeletedObject<Kind>, unknown, unknown> {
  return t.type(
    { id: text(), object: t.literal(kind), deleted: t.literal(true) },
    `Deleted${kind.split('.').map(capitalized).join('')}`,
  );
}

function capitalized(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`;
}

export function deletionOf<Kind extends string>(object: Kind, id: string) {
  return { id, object, deleted: true } as const;
}
