import { setFlagsFromString } from 'node:v8';

/** How much a thread's heap may grow until the next full collection, as a percentage of its live objects. */
const growingPercent = 70;

/**
 * Limits the garbage that the heaps of all threads of this process hold. By default V8 lets garbage grow to three times the
 * size of the live objects. docs/adr/0089-heaps-grow-by-less.md has the figures.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}
