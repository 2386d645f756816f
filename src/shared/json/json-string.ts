const backslash = 0x5c;

/** The text that a sound JSON string says, which is between two offsets, its quotes included. */
export function stringIn(bytes: Buffer, start: number, end: number): string {
  if (!hasEscape(bytes, start, end)) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

/** Whether anything in a JSON string is written as an escape. */
export function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== backslash) at += 1;
  return at < end;
}

/** Whether the name between two offsets, its quotes included, is this one (of ASCII), in whatever spelling. */
export function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  const length = end - start - 2;
  if (length < name.length || length > 6 * name.length) return false;
  if (length > name.length) return hasEscape(bytes, start, end) && stringIn(bytes, start, end) === name;
  for (let index = 0; index < length; index += 1) {
    if (bytes[start + 1 + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}
