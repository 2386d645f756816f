import { readInTurn } from '#application/queries/paging.ts';
import type { CollectionReader } from '#application/queries/query.ts';
import { chunksBetween } from '#projections/usage/period.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import type { Rollup } from '#projections/usage/usage-group.ts';
import { periodOfDocument } from '#projections/usage/usage-shares.ts';
import { type FiguresOwner, ownedBy } from '#queries/shared/figures-owner.ts';
import type { Page, PageKey, PageRequest, Where } from '#read-store/read-store.ts';
import type { UsageRange } from './usage-range.ts';

/** The most documents and bytes of one read. */
const maxDocumentsPerRead = 1_000;
const maxBytesPerRead = 2 * 1024 * 1024;

/** A request needs more documents than one answer may read. */
export class TooMuchUsageError extends Error {
  constructor() {
    super('The range has more usage than one answer may read.');
    this.name = 'TooMuchUsageError';
  }
}

/** Reads the documents of one series in a range, in no order. @throws UnavailableError */
export function readSeries(
  collection: CollectionReader,
  range: UsageRange,
  series: string,
): Promise<ReadonlyArray<UsageDocument>> {
  return readChunks(collection, range, { series }, Number.MAX_SAFE_INTEGER);
}

/**
 * Reads the documents of an owner's rollup in a range, in no order.
 * @param max the most documents @throws TooMuchUsageError if there are more; UnavailableError
 */
export function readRollup(
  collection: CollectionReader,
  range: UsageRange,
  rollup: Rollup,
  owner: FiguresOwner,
  max: number,
): Promise<ReadonlyArray<UsageDocument>> {
  return readChunks(collection, range, { rollup, ...ownedBy(owner) }, max);
}

async function readChunks(
  collection: CollectionReader,
  { length, from, until }: UsageRange,
  where: Where,
  max: number,
): Promise<ReadonlyArray<UsageDocument>> {
  const found: UsageDocument[] = [];
  for (const chunk of chunksBetween(length, from, until)) {
    let after: PageKey | null = null;
    do {
      const request: PageRequest = { limit: maxDocumentsPerRead, maxBytes: maxBytesPerRead, ...(after && { after }) };
      const page: Page<UsageDocument> = await readInTurn(collection, { ...where, chunk }, request);
      for (const document of page.documents) {
        // Documents of a chunk outside the range are not parsed.
        const period = periodOfDocument(document.id);
        if (period >= from && period < until) found.push(document.value);
      }
      if (found.length > max) throw new TooMuchUsageError();
      after = page.next;
    } while (after !== null);
  }
  return found;
}
