import type { CollectionReader } from '#application/operations/paging.ts';
import { readInTurn } from '#application/operations/paging.ts';
import type { ActivityDocument } from '#projections/figures/activity.ts';

const page = { limit: 100, maxBytes: 4 * 1024 * 1024 };

/** Reads the activity by day. Days without events are absent. @throws UnavailableError */
export async function readActivity(
  collection: CollectionReader,
  scope: string,
  months: ReadonlyArray<string>,
): Promise<ReadonlyMap<string, ActivityDocument>> {
  const byDay = new Map<string, ActivityDocument>();
  for (const month of months) {
    const { documents } = await readInTurn<ActivityDocument>(collection, { scope, month }, page);
    for (const { value } of documents) if (value.day !== null) byDay.set(value.day, value);
  }
  return byDay;
}
