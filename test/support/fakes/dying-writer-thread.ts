import { parentPort } from 'node:worker_threads';

/** A writer thread that answers nothing, and fails at its second write. */
let writes = 0;

parentPort?.on('message', (messages: ReadonlyArray<unknown>) => {
  writes += messages.length;
  if (writes >= 2) throw new Error('The test ends the thread.');
});
