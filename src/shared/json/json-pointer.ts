/** Characters of a pointer at most: names may be as long as a body, and faults many. */
export const maxPointerLength = 1_000;

/** A JSON pointer (RFC 6901) to a place given by its keys. One that would be too long ends at a place around it. */
export function pointerTo(keys: ReadonlyArray<string>): string {
  let pointer = '';
  for (const key of keys) {
    if (pointer.length + key.length >= maxPointerLength) break;
    pointer += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}

/** The keys that a JSON pointer holds, the outermost first. */
export function keysOfPointer(pointer: string): ReadonlyArray<string> {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
