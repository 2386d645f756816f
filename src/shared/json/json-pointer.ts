/** Maximum length, because names may be as long as a body, and there may be many faults. */
export const maxPointerLength = 1_000;

/** A pointer to which keys are added from the outside in. */
export interface GrowingPointer {
  readonly text: string;
  /** True if it ends at a place around, because the whole pointer would be too long. */
  readonly isCut: boolean;
}

export const rootPointer: GrowingPointer = { text: '', isCut: false };

export function pointerIn(around: GrowingPointer, key: string): GrowingPointer {
  if (around.isCut) return around;
  if (around.text.length + key.length >= maxPointerLength) return cutPointer(around);
  return { text: `${around.text}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, isCut: false };
}

/** The returned pointer stays as it is, whatever is in its place. */
export function cutPointer({ text }: GrowingPointer): GrowingPointer {
  return { text, isCut: true };
}

/** A pointer as in RFC 6901. One that would be too long ends at a place around it. */
export function pointerTo(keys: ReadonlyArray<string>): string {
  let pointer = rootPointer;
  for (const key of keys) {
    pointer = pointerIn(pointer, key);
    if (pointer.isCut) break;
  }
  return pointer.text;
}

/** The keys, the outermost first. */
export function keysOfPointer(pointer: string): ReadonlyArray<string> {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
