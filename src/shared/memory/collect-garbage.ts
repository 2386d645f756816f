import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

interface CollectionOptions {
  readonly type: 'minor' | 'major';
  readonly execution: 'sync';
  /** `last-resort` also makes the heap smaller, and gives what it does not use back to the system. */
  readonly flavor: 'regular' | 'last-resort';
}

type Collect = (options: CollectionOptions) => void;

let collect: Collect | null = null;

/** Collects the young garbage of this thread, in about a millisecond. */
export function collectYoungGarbage(): void {
  run('minor', 'regular');
}

/** Collects all garbage of this thread, which does nothing else meanwhile: 40 ms with 30 MB of live objects. */
export function collectAllGarbage(): void {
  run('major', 'regular');
}

/**
 * Collects what a start has left, and gives the memory back to the system, which V8 would not do while nothing happens.
 * The thread does nothing else meanwhile: 50 to 100 ms. Only for the end of a start, because V8 also discards compiled
 * code: docs/adr/0123-memory-is-left-to-v8.md has the figures.
 */
export function collectGarbageOfStart(): void {
  run('major', 'last-resort');
}

function run(type: CollectionOptions['type'], flavor: CollectionOptions['flavor']): void {
  collect ??= findCollect();
  collect({ type, execution: 'sync', flavor });
}

/** Finds V8's function, which Node hides without a command-line flag. The returned one does nothing if V8 has none. */
function findCollect(): Collect {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  return typeof found === 'function' ? (found as Collect) : () => undefined;
}
