import { readInTurn } from '#application/queries/paging.ts';
import type { CollectionReader } from '#application/queries/query.ts';
import { chunksBetween } from '#projections/usage/period.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import type { Rollup } from '#projections/usage/usage-group.ts';
import { periodOfDocument } from '#projections/usage/usage-shares.ts';
import { type FiguresOwner, ownedBy } from '#queries/shared/figures-owner.ts';
import type { Page, PageKey, PageRequest, Where } from '#read-store/read-store.ts';
import type { UsageRange } from './usage-range.ts';

/** Documents that a list reads at a time. */
const documentsRead = 1_000;
const bytesRead = 2 * 1024 * 1024;

/** A question asks for more documents than may be read for one. */
export class TooMuchUsageError extends Error {
  constructor() {
    super('The range has more usage than one answer may be made of.');
    this.name = 'TooMuchUsageError';
  }
}

/** The documents of one series in a range, in no order. @throws UnavailableError */
export function readSeries(
  collection: CollectionReader,
  range: UsageRange,
  series: string,
): Promise<ReadonlyArray<UsageDocument>> {
  return readChunks(collection, range, { series }, Number.MAX_SAFE_INTEGER);
}

/**
 * The documents of a rollup in a range that are an owner's, in no order.
 * @param max documents at most @throws TooMuchUsageError beyond that; UnavailableError
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
      const request: PageRequest = { limit: documentsRead, maxBytes: bytesRead, ...(after && { after }) };
      const page: Page<UsageDocument> = await readInTurn(collection, { ...where, chunk }, request);
      for (const document of page.documents) {
        // Those of a chunk that are out of the range are not parsed.
        const period = periodOfDocument(document.id);
        if (period >= from && period < until) found.push(document.value);
      }
      if (found.length > max) throw new TooMuchUsageError();
      after = page.next;
    } while (after !== null);
  }
  return found;
}
