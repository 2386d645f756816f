import { endOfString } from '#src/json-scan.ts';

/** A member of a JSON object in its text. Offsets count characters; in latin1 they are those of the bytes. */
export interface Member {
  readonly name: string;
  /** Of the name's opening quote. */
  readonly start: number;
  readonly valueStart: number;
  /** Past the value. */
  readonly end: number;
}

const tab = 0x09;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Where the members of a JSON object stand, every one of a doubled name, without parsing what is inside. Works on
 * latin1 text, so that offsets are those of the bytes.
 * @param from where the object's brace is, or white space before it
 * @returns null when the text is no object, or ends early. A text that JSON.parse takes is read right; in another one
 * mistakes may stay unseen
 */
export function membersOf(text: string, from = 0): ReadonlyArray<Member> | null {
  let at = skipSpace(text, from);
  if (text.charCodeAt(at) !== openBrace) return null;
  const members: Member[] = [];
  at = skipSpace(text, at + 1);
  if (text.charCodeAt(at) === closeBrace) return members;
  for (;;) {
    const start = at;
    if (text.charCodeAt(start) !== quote) return null;
    const nameEnd = endOfString(text, start);
    at = skipSpace(text, nameEnd);
    if (text.charCodeAt(at) !== colon) return null;
    const valueStart = skipSpace(text, at + 1);
    const end = endOfValue(text, valueStart);
    if (end === valueStart) return null;
    members.push({ name: nameOf(text, start, nameEnd), start, valueStart, end });
    at = skipSpace(text, end);
    const next = text.charCodeAt(at);
    if (next === closeBrace) return members;
    if (next !== comma) return null;
    at = skipSpace(text, at + 1);
  }
}

/** The index past the value that begins at an index; the index itself where none does. */
function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return endOfString(text, start);
  if (first === openBrace || first === openBracket) return endOfNested(text, start);
  let at = start;
  while (at < text.length && !endsLiteral(text.charCodeAt(at))) at += 1;
  return at;
}

function endsLiteral(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || isSpace(code);
}

function endOfNested(text: string, start: number): number {
  let level = 0;
  for (let at = start; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at) - 1;
        break;
      case openBracket:
      case openBrace:
        level += 1;
        break;
      case closeBracket:
      case closeBrace:
        level -= 1;
        if (level === 0) return at + 1;
        break;
    }
  }
  return text.length;
}

/** A name with its escapes read: `"\u006dodel"` is `model`, too. */
function nameOf(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end - 1);
  if (!inside.includes('\\')) return inside;
  try {
    return JSON.parse(text.slice(start, end)) as string;
  } catch {
    return inside;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === space || (code >= tab && code <= 0x0d && code !== 0x0b && code !== 0x0c);
}
