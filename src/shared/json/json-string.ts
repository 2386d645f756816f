const backslash = 0x5c;

/** Returns the text of a valid JSON string between two offsets, which include its quotes. */
export function stringIn(bytes: Buffer, start: number, end: number): string {
  if (!hasEscape(bytes, start, end)) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

/** Whether a JSON string contains an escape. */
export function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== backslash) at += 1;
  return at < end;
}

/** Whether the name between two offsets, which include its quotes, is this ASCII name, with or without escapes. */
export function isNamed(bytes: Buffer, start: number, end: number, name: string): boolean {
  const length = end - start - 2;
  if (length < name.length || length > 6 * name.length) return false;
  if (length > name.length) return hasEscape(bytes, start, end) && stringIn(bytes, start, end) === name;
  for (let index = 0; index < length; index += 1) {
    if (bytes[start + 1 + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}
