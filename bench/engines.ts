import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { appends } from './engines/appends.ts';
import { catchUp } from './engines/catch-up.ts';
import { projectionWrites } from './engines/projection-writes.ts';
import { takeover } from './engines/takeover.ts';
import { printResults, type Result } from './measure.ts';

/**
 * The service on EventStoreDB and MongoDB against the bare clients: on the double, or the server that
 * EVENTSTOREDB_TEST_URL names, and on FerretDB.
 */
export default async function engines(): Promise<void> {
  printResults([
    ...(await onEventStoreDb(appends)),
    ...(await onEventStoreDb(catchUp)),
    ...(await projectionWrites()),
    ...(await onEventStoreDb(takeover)),
  ]);
}

/** Each measurement has a server of its own: what one stored does not burden the next. */
async function onEventStoreDb(
  measure: (url: string) => Promise<ReadonlyArray<Result>>,
): Promise<ReadonlyArray<Result>> {
  const named = process.env.EVENTSTOREDB_TEST_URL;
  if (named) return measure(named);
  const double = await EventStoreDbDoubleProcess.start();
  try {
    return await measure(double.url);
  } finally {
    await double.end();
  }
}
