import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openSqliteEventReader } from '#event-store/sqlite/reader.ts';

/** A thread that subscribes to the log and posts the ids it sees, until it has seen `count`. */
const { file, wake, count } = workerData as { file: string; wake: MessagePort; count: number };

const reader = openSqliteEventReader({ file, wake });
const abort = new AbortController();
let seen = 0;
for await (const { events, caughtUp } of reader.subscribe({ after: 0, signal: abort.signal })) {
  seen += events.length;
  parentPort?.postMessage({ ids: events.map(({ id }) => id), caughtUp });
  if (seen >= count) abort.abort();
}
await reader.close();
