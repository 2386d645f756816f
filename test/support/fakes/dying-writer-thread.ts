import { parentPort } from 'node:worker_threads';

/** A writer thread that answers nothing, and fails at its second message. */
let messages = 0;

parentPort?.on('message', () => {
  messages += 1;
  if (messages === 2) throw new Error('The test ends the thread.');
});
