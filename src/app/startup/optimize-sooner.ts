import { setFlagsFromString } from 'node:v8';

/** The calls of a function after which V8 may compile it with its best compiler. V8 has 3,000. */
const callsBeforeBestCode = 1_000;

/**
 * Lets V8 optimize functions sooner, in all threads. A request passes a few hundred functions, most of them once, so that
 * with V8's own number a node is slow for the first ten thousand requests:
 * docs/adr/0105-functions-are-optimized-sooner.md has the figures. V8 ignores a flag that it does not know.
 */
export function optimizeSooner(): void {
  setFlagsFromString(`--invocation-count-for-turbofan=${callsBeforeBestCode}`);
}
