import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { invalidInput } from '#application/operations/input-errors.ts';
import { nullable, text, wholeNumber, withJsonSchema } from '#domain/codecs/codecs.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { encodeObject } from '#shared/json/encoded-json.ts';
import { maxPageBytes, readInTurn } from './paging.ts';
import type { CollectionReader, QueryAnswer } from './query.ts';

/** Items in a page at most, and without a `limit`: what OpenAI gives of files. */
const maxObjects = 10_000;

/** The input of a list as OpenAI has it: what page. */
export const ObjectListInput = t.partial({
  after: withJsonSchema(new t.StringType(), {
    type: 'string',
    description: 'The last_id of the page before; it may have been deleted since',
  }),
  limit: wholeNumber(1, maxObjects),
});

export type ObjectListInput = t.TypeOf<typeof ObjectListInput>;

/** A page of objects, as OpenAI answers it. */
export interface ObjectList<Item> {
  readonly object: 'list';
  readonly data: ReadonlyArray<Item>;
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** The codec of a list of such items. */
export function objectList<Item>(item: t.Type<Item, unknown, unknown>): t.Type<ObjectList<Item>, unknown, unknown> {
  return t.type({
    object: t.literal('list'),
    data: t.readonlyArray(item),
    first_id: nullable(text()),
    last_id: nullable(text()),
    has_more: t.boolean,
  });
}

/**
 * What a project's list is made of: the id of a document is that of its record. What was deleted keeps its place, so
 * that a page may begin after it.
 */
export interface ListedDocument<Item> {
  readonly projectId: string | null;
  /** The project in whose list it stands; null once it was deleted. */
  readonly listedIn: string | null;
  /** Null once it was deleted. */
  readonly record: Item | null;
}

/**
 * A page of a project's objects, oldest first.
 * @returns invalid-input when `after` names nothing that was ever in the list
 */
export async function listObjects<Item>(
  collection: CollectionReader,
  projectId: string,
  { after, limit = maxObjects }: ObjectListInput,
): Promise<E.Either<Failure, QueryAnswer<ObjectList<Item>>>> {
  const place = after === undefined ? null : await collection.get<ListedDocument<Item>>(after);
  if (after !== undefined && place?.head.projectId !== projectId) return E.left(unknownPlace);
  const request = { limit, maxBytes: maxPageBytes, ...(place === null ? {} : { after: place }) };
  const page = await readInTurn<ListedDocument<Item>>(collection, { listedIn: projectId }, request);
  return E.right({
    body: encodeObject({
      object: 'list',
      data: page.documents.map(({ record }) => record),
      first_id: page.documents[0]?.id ?? null,
      last_id: page.documents.at(-1)?.id ?? null,
      has_more: page.next !== null,
    }),
  });
}

const unknownPlace = invalidInput([{ pointer: '/after', message: 'must be the last_id of an earlier page' }]);

/** What the deletion of an object answers, as OpenAI has it. */
export interface DeletedObject<Kind extends string> {
  readonly id: string;
  readonly object: Kind;
  readonly deleted: true;
}

/** The codec of such an answer. */
export function deletedObject<Kind extends string>(kind: Kind): t.Type<DeletedObject<Kind>, unknown, unknown> {
  return t.type({ id: text(), object: t.literal(kind), deleted: t.literal(true) });
}

/** Such an answer. */
export function deletionOf<Kind extends string>(object: Kind, id: string) {
  return { id, object, deleted: true } as const;
}
