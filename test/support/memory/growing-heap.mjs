// Loaded into the service with `--import`: from the signal SIGUSR2 on, live objects fill the heap of its main thread, and
// with GARBAGE=true garbage of the same size.
import { isMainThread } from 'node:worker_threads';

const megabyte = 1024 * 1024;
const held = [];

/** Takes a megabyte for numbers that are not small. */
const numbers = () => Array.from({ length: megabyte / 16 }, (_, index) => index + 0.5);

function grow() {
  for (let times = 0; times < 4; times += 1) {
    const made = numbers();
    if (process.env.GARBAGE !== 'true') held.push(made);
  }
  setTimeout(grow, 1);
}

if (isMainThread) process.once('SIGUSR2', grow);
