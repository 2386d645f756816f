/** The most characters of a pointer. Names may be as long as a body, and there may be many faults. */
export const maxPointerLength = 1_000;

/**
 * Returns the JSON pointer (RFC 6901) for a list of keys. A pointer that would be too long ends at a place around it.
 */
export function pointerTo(keys: ReadonlyArray<string>): string {
  let pointer = '';
  for (const key of keys) {
    if (pointer.length + key.length >= maxPointerLength) break;
    pointer += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}

/** Returns the keys in a JSON pointer, the outermost first. */
export function keysOfPointer(pointer: string): ReadonlyArray<string> {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
