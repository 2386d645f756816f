import { setFlagsFromString } from 'node:v8';

/** By so much of what is alive the heap may grow until the next full collection. */
const growingPercent = 40;

let runs = 0;

/**
 * Keeps the heap small while batches run: a line leaves 60 KB of garbage, a part of which outlives young collections. V8
 * would let three times as much of it gather as is alive. docs/adr/0041-batches-run-on-a-small-heap.md has the figures.
 * @returns is called when the run is over
 */
export function keepHeapSmall(): () => void {
  runs += 1;
  if (runs === 1) setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
  return () => {
    runs -= 1;
    // V8 decides by itself again.
    if (runs === 0) setFlagsFromString('--heap-growing-percent=0');
  };
}
