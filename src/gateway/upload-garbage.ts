import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What is handed through between two collections. */
const bytesBetween = 4 * 1024 * 1024;

type Collect = (options: { readonly type: 'minor' }) => void;

let collect: Collect | null = null;
let bytesSince = 0;

/**
 * Counts bytes of an upload that are garbage as soon as they have been written or sent. Their memory lies outside of
 * V8's heap, which lets some 80 MB of it gather before it looks. A collection of what is young, every few megabytes,
 * takes a millisecond or two and keeps that near 10 MB.
 */
export function countReleasedBytes(bytes: number): void {
  bytesSince += bytes;
  if (bytesSince < bytesBetween) return;
  bytesSince = 0;
  collect ??= collector();
  collect({ type: 'minor' });
}

/** V8's own function, which Node hides unless it is told on its command line. Does nothing where there is none. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  return typeof found === 'function' ? (found as Collect) : () => undefined;
}
