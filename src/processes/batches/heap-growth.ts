import { setFlagsFromString } from 'node:v8';

/** How much the heap may grow until the next full collection, as a percentage of the live objects. */
const growingPercent = 40;

let runs = 0;

/**
 * Keeps the heap small while batches run. A line leaves 60 KB of garbage, and a part of that survives young
 * collections. By default V8 lets garbage grow to three times the size of the live objects.
 * docs/adr/0041-batches-run-on-a-small-heap.md has the figures.
 * @returns a function that must be called at the end of the run
 */
export function keepHeapSmall(): () => void {
  runs += 1;
  if (runs === 1) setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
  return () => {
    runs -= 1;
    // With 0, V8 decides again.
    if (runs === 0) setFlagsFromString('--heap-growing-percent=0');
  };
}
