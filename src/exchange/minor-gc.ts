import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes released between two collections. */
const bytesBetween = 4 * 1024 * 1024;

type Collect = (options: { readonly type: 'minor' }) => void;

let collect: Collect | null = null;
let bytesSince = 0;

/**
 * Counts bytes of an upload that are garbage because they were written or sent, and collects young garbage every few
 * megabytes. That memory is outside V8's heap, so V8 would collect it much later:
 * docs/adr/0028-uploads-collect-their-own-garbage.md has the figures.
 */
export function countReleasedBytes(bytes: number): void {
  bytesSince += bytes;
  if (bytesSince < bytesBetween) return;
  bytesSince = 0;
  collect ??= collector();
  collect({ type: 'minor' });
}

/** V8's own function, which Node hides without a command-line flag. Does nothing if V8 has none. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  return typeof found === 'function' ? (found as Collect) : () => undefined;
}
