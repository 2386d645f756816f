import type { Filter } from 'mongodb';
import type { DocumentWrite } from '#read-store/read-store.ts';
import { calling, insert, merge, type WriteContext } from './document-calls.ts';
import { type DocumentRecord, removedAt, whereConditions } from './stored-document.ts';

/** The most documents that are removed at once. */
const maxMerged = 1000;
const maxExchanged = 10_000;

/**
 * Removes the existing documents that match a declared index and that no later event has touched, in bounded calls.
 * @throws UnavailableError
 */
export async function removeWhere(
  { where, position }: DocumentWrite & { readonly kind: 'delete-where' },
  applying: WriteContext,
): Promise<void> {
  const filter = {
    ...whereConditions(applying.generation.indexes, where),
    'state.order': { $gte: 0 },
    'state.position': { $lt: position },
  };
  const together = await applying.connection.maxUpdates();
  const limit = together >= maxMerged ? maxMerged : maxExchanged;
  for (;;) {
    const found = await firstMade(filter, limit, applying);
    if (found.length <= together) await merge(found.map(removed(position)), applying);
    else await exchange(found, found.length === limit, filter, position, applying);
    if (found.length < limit) return;
  }
}

interface Found {
  readonly _id: string;
  readonly order: number;
}

/**
 * For a server that takes few updates at once, and that looks through all documents for each of them. Documents are
 * deleted, and then their removal is stored, by two calls. The price: between the two calls a late write could bring a
 * document back.
 */
async function exchange(
  found: ReadonlyArray<Found>,
  cutOff: boolean,
  filter: Filter<DocumentRecord>,
  position: number,
  applying: WriteContext,
): Promise<void> {
  const last = found.at(-1)?.order ?? 0;
  // One event may have created several documents. Those that the limit has cut off are deleted too.
  const alike = cutOff ? await firstMade({ $and: [filter, { 'state.order': last }] }, maxExchanged, applying) : [];
  const all = new Map([...found, ...alike].map((one) => [one._id, one] as const));
  await calling(applying, (collection) => collection.deleteMany({ $and: [filter, { 'state.order': { $lte: last } }] }));
  const records = [...all.values()].map(removed(position));
  if (!(await insert(records, applying))) await merge(records, applying);
}

function firstMade(
  filter: Filter<DocumentRecord>,
  limit: number,
  applying: WriteContext,
): Promise<ReadonlyArray<Found>> {
  return calling(applying, (collection) =>
    collection
      .find<DocumentRecord<number>>(filter, {
        projection: { 'state.order': 1 },
        sort: { 'state.order': 1 },
        limit,
        batchSize: limit,
      })
      .map(({ _id, state }) => ({ _id, order: state.order ?? 0 }))
      .toArray(),
  );
}

function removed(position: number): (found: Found) => DocumentRecord {
  return ({ _id }) => ({ _id, state: removedAt(position) });
}
