import { type CollectionReader, readInTurn } from '#application/operations/paging.ts';
import { chunksBetween } from '#projections/usage/period.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import type { Rollup } from '#projections/usage/usage-group.ts';
import { periodOfDocument } from '#projections/usage/usage-shares.ts';
import { type FiguresOwner, ownedBy } from '#queries/shared/figures-owner.ts';
import type { DocumentPage, PageKey, PageRequest, Where } from '#read-store/read-store.ts';
import type { UsageRange } from './usage-range.ts';

const maxDocumentsPerRead = 1_000;
const maxBytesPerRead = 2 * 1024 * 1024;

/** A request needs more documents than one answer may read. */
export class TooMuchUsageError extends Error {
  constructor() {
    super('The range has more usage than one answer may read.');
    this.name = 'TooMuchUsageError';
  }
}

/** Documents come in no order. @throws UnavailableError */
export async function readSeries(
  collection: CollectionReader,
  range: UsageRange,
  series: string,
): Promise<ReadonlyArray<UsageDocument>> {
  const found: UsageDocument[] = [];
  await readChunks(collection, range, { series }, Number.MAX_SAFE_INTEGER, (document) => found.push(document));
  return found;
}

/** Documents come in no order. @throws TooMuchUsageError if there are more than `max`; UnavailableError */
export async function readRollup(
  collection: CollectionReader,
  range: UsageRange,
  rollup: Rollup,
  owner: FiguresOwner,
  max: number,
): Promise<ReadonlyArray<UsageDocument>> {
  const found: UsageDocument[] = [];
  await passRollup(collection, range, rollup, owner, max, (document) => found.push(document));
  return found;
}

/**
 * Passes the documents in no order. Only a page of them is in memory at a time.
 * @returns their number
 * @throws TooMuchUsageError if there are more than `max`; UnavailableError
 */
export function passRollup(
  collection: CollectionReader,
  range: UsageRange,
  rollup: Rollup,
  owner: FiguresOwner,
  max: number,
  pass: (document: UsageDocument) => void,
): Promise<number> {
  return readChunks(collection, range, { rollup, ...ownedBy(owner) }, max, pass);
}

async function readChunks(
  collection: CollectionReader,
  { length, from, until }: UsageRange,
  where: Where,
  max: number,
  pass: (document: UsageDocument) => void,
): Promise<number> {
  let found = 0;
  for (const chunk of chunksBetween(length, from, until)) {
    let after: PageKey | null = null;
    do {
      const request: PageRequest = { limit: maxDocumentsPerRead, maxBytes: maxBytesPerRead, ...(after && { after }) };
      const page: DocumentPage<UsageDocument> = await readInTurn(collection, { ...where, chunk }, request);
      // Documents of a chunk outside the range are not parsed.
      const inRange = page.documents.filter(({ id }) => {
        const period = periodOfDocument(id);
        return period >= from && period < until;
      });
      found += inRange.length;
      if (found > max) throw new TooMuchUsageError();
      for (const { value } of inRange) pass(value);
      after = page.next;
    } while (after !== null);
  }
  return found;
}
