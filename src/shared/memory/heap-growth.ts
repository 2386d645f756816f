import { setFlagsFromString } from 'node:v8';

/** How much a heap may grow until the next full collection, as a percentage of its live objects. */
const growingPercent = 40;

let works = 0;

/**
 * Keeps the heaps of all threads small while work runs that leaves much garbage. By default V8 lets garbage grow to three
 * times the size of the live objects. docs/adr/0089-heaps-stay-small-under-heavy-work.md has the figures.
 * @returns a function that must be called at the end of the work
 */
export function keepHeapSmall(): () => void {
  works += 1;
  if (works === 1) setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
  return () => {
    works -= 1;
    // With 0, V8 decides again.
    if (works === 0) setFlagsFromString('--heap-growing-percent=0');
  };
}
