import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { mustAppend, someEvent } from '#test/contract/event-store.ts';
import { readEvents } from '#test/support/harness/read-events.ts';

/** A process that appends to eight streams concurrently and prints stream, revision and id of each acknowledged event. */
const store = await openSqliteEventStore({ file: process.argv[2] ?? '' });

async function appendTo(stream: string): Promise<void> {
  for (let revision = (await readEvents(store, stream, 0)).length - 1; ; revision += 1) {
    const event = someEvent();
    const appended = await mustAppend(store, stream, revision, [event]);
    process.stdout.write(`${stream} ${appended.revision} ${event.id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, index) => appendTo(`stream-${index}`)));
