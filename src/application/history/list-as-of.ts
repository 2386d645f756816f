import * as E from 'fp-ts/lib/Either.js';
import { encodeCursor, maxPageItems, type PageInput, pageAnswer } from '#application/queries/paging.ts';
import type { QueryAnswer } from '#application/queries/query.ts';
import type { ResourceName } from '#domain/history/listed-event.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import { TurnBudget } from '#shared/async/event-loop-budget.ts';
import { type EncodedJson, encodeJson } from '#shared/json/encoded-json.ts';
import { absentThen, type Moment, type PastReads, type PastResource, pastReader, streamAsOf } from './as-of.ts';

/** The past of a list whose items live in one stream. */
export interface PastList extends Pick<PastResource, 'history' | 'entity'> {
  /** The items that exist in a state, in the order of the list, with their increasing numbers. */
  // biome-ignore lint/suspicious/noExplicitAny: a query knows records; states stay between an entity and its history.
  readonly items: (state: any) => Iterable<{ readonly number: number; readonly resource: ResourceName }>;
}

/** The requested page of a list. */
export interface PastPage<Name extends string> {
  readonly past: PastList;
  readonly notFound: FailureCode;
  /** The id of the resource that the items belong to. */
  readonly id: string;
  /** The member of the answer that holds the items. */
  readonly name: Name;
  readonly input: PageInput;
  readonly asOf: Moment;
}

/** The characters of records that all such lists together make between two turns of the event loop. */
const turns = new TurnBudget(128 * 1024);
/** The estimated characters of a record before it is made. */
const expectedCharacters = 1_024;

type PageBody<Name extends string, Record> = { readonly [member in Name]: ReadonlyArray<Record> } & {
  readonly nextCursor?: string;
};

/**
 * A page of a list as it was at a moment.
 * @returns `notFound` if the resource that the items belong to did not exist then
 * @throws UnavailableError
 */
export async function listAsOf<Name extends string, Record>(
  reads: PastReads,
  { past, notFound, id, name, input: { limit = maxPageItems, cursor, sort }, asOf }: PastPage<Name>,
): Promise<E.Either<Failure, QueryAnswer<PageBody<Name, Record>>>> {
  const found = await streamAsOf(reads, past.entity, id, asOf);
  if (E.isLeft(found)) return found;
  const { state } = found.right;
  if (!past.entity.isLive(state, id)) return E.left(absentThen(notFound, id, asOf));
  const read = await pastReader(reads, past, id, state);
  const items: EncodedJson<Record>[] = [];
  let bytes = 0;
  const newestFirst = sort === '-createdAt';
  const places = newestFirst ? [...past.items(state)].reverse() : past.items(state);
  let last = cursor?.order ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0);
  for (const { number, resource } of places) {
    if (newestFirst ? number >= last : number <= last) continue;
    await turns.take(expectedCharacters);
    const item = encodeJson((await read(resource)) as unknown as Record);
    const itemBytes = Buffer.byteLength(item.text);
    const isFull = items.length >= limit || (items.length > 0 && bytes + itemBytes > reads.maxPageBytes);
    if (isFull) return E.right(pageAnswer(name, items, encodeCursor({ order: last, id })));
    items.push(item);
    bytes += itemBytes;
    turns.spend(item.text.length - expectedCharacters);
    last = number;
  }
  return E.right(pageAnswer(name, items, null));
}
