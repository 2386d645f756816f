import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { appends } from './engines/appends.ts';
import { catchUp } from './engines/catch-up.ts';
import { projectionWrites } from './engines/projection-writes.ts';
import { printResults, type Result } from './measure.ts';

const startLimitMilliseconds = 10_000;

/**
 * The service on EventStoreDB and MongoDB against the bare clients: on the double, or the server that
 * EVENTSTOREDB_TEST_URL names, and on FerretDB.
 */
export default async function engines(): Promise<void> {
  printResults([...(await onEventStoreDb(appends)), ...(await onEventStoreDb(catchUp)), ...(await projectionWrites())]);
}

/** Each measurement has a server of its own: what one stored does not burden the next. */
async function onEventStoreDb(
  measure: (url: string) => Promise<ReadonlyArray<Result>>,
): Promise<ReadonlyArray<Result>> {
  const named = process.env.EVENTSTOREDB_TEST_URL;
  if (named) return measure(named);
  const script = fileURLToPath(new URL('../test/support/eventstoredb/serve.ts', import.meta.url));
  const double = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    return await measure(await urlOf(double));
  } finally {
    double.stdin.end();
  }
}

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The double tells no address.');
  const [line] = await once(stdout, 'data', { signal: AbortSignal.timeout(startLimitMilliseconds) });
  return String(line).trim();
}
