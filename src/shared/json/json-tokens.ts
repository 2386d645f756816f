const quote = 0x22;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const backslash = 0x5c;
const letterU = 0x75;

const isHexDigit = byteTable('0123456789abcdefABCDEF');
const isEscape = byteTable('"\\/bfnrt');

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** Makes a table that is 1 at each of these bytes. A lookup in it costs less than comparisons. */
export function byteTable(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const code of Buffer.from(characters)) table[code] = 1;
  return table;
}

/** Skips plain text inside a string: all bytes but quotes, backslashes and control characters. */
export function pastPlainText(bytes: Buffer, at: number, until: number): number {
  let end = at;
  while (end < until) {
    const code = bytes[end] as number;
    if (code === quote || code === backslash || code < 0x20) break;
    end += 1;
  }
  return end;
}

/** Skips an escape. @returns the offset after it; the offset of its backslash if the escape is faulty */
export function pastEscape(bytes: Buffer, at: number): number {
  const escaped = bytes[at + 1] ?? 0;
  if (isEscape[escaped] === 1) return at + 2;
  return escaped === letterU && hasHexDigits(bytes, at + 2) ? at + 6 : at;
}

function hasHexDigits(bytes: Buffer, at: number): boolean {
  if (at + 4 > bytes.length) return false;
  for (let index = at; index < at + 4; index += 1) if (isHexDigit[bytes[index] as number] === 0) return false;
  return true;
}

/** Skips a number or a literal. @returns the offset after it; the complement (`~`) of the faulty byte's offset */
export function endOfWord(bytes: Buffer, at: number, code: number): number {
  if (code === minus || isDigit(code)) return endOfNumber(bytes, at);
  for (const literal of literals) if (code === literal[0]) return endOfLiteral(bytes, at, literal);
  return ~at;
}

function endOfNumber(bytes: Buffer, at: number): number {
  const start = bytes[at] === minus ? at + 1 : at;
  let end = bytes[start] === zero ? start + 1 : pastDigits(bytes, start);
  if (end === start) return ~end;
  if (bytes[end] === point) {
    const fraction = end + 1;
    end = pastDigits(bytes, fraction);
    if (end === fraction) return ~end;
  }
  if (isExponent(bytes[end])) {
    const sign = bytes[end + 1];
    const exponent = sign === minus || sign === 0x2b ? end + 2 : end + 1;
    end = pastDigits(bytes, exponent);
    if (end === exponent) return ~Math.min(end, bytes.length);
  }
  return end;
}

function pastDigits(bytes: Buffer, at: number): number {
  let end = at;
  while (end < bytes.length && isDigit(bytes[end] as number)) end += 1;
  return end;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

function isExponent(code: number | undefined): boolean {
  return code === 0x65 || code === 0x45;
}

function endOfLiteral(bytes: Buffer, at: number, word: Buffer): number {
  for (let index = 0; index < word.length; index += 1) if (bytes[at + index] !== word[index]) return ~(at + index);
  return at + word.length;
}

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
