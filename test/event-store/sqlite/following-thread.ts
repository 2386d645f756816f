import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openSqliteEventReader } from '#event-store/sqlite/reader.ts';
import { batchesOf, tailOf } from '#test/support/log/tail-of.ts';

/** A thread that follows the log and posts the ids of its events, until there are `count`. */
const { file, wake, count } = workerData as { file: string; wake: MessagePort; count: number };

const reader = openSqliteEventReader({ file, wake });
const tail = tailOf(reader);
const abort = new AbortController();
let seen = 0;
for await (const { events, caughtUp } of batchesOf(tail, { after: 0, signal: abort.signal })) {
  seen += events.length;
  parentPort?.postMessage({ ids: events.map(({ id }) => id), caughtUp });
  if (seen >= count) abort.abort();
}
await tail.close();
await reader.close();
