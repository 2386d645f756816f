import { GatheredBytes } from './gathered-bytes.ts';

export interface SseEvent {
  readonly start: number;
  /** The offset after its blank line. */
  readonly end: number;
  /** Its data lines joined by line feeds; null without any, for example in a comment. */
  readonly data: string | null;
}

export interface SseBatch {
  /** The bytes of the events, in order, and nothing else. */
  readonly bytes: Buffer;
  readonly events: ReadonlyArray<SseEvent>;
}

/** Maximum size of an event that is held. A larger one is read in pieces (`LargeEvent`). */
export const maxSplitBytes = 1024 * 1024;

const nothing: SseBatch = { bytes: Buffer.alloc(0), events: [] };
export const blankLine = Buffer.from('\n\n');
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = '\xef\xbb\xbf';

/**
 * Splits a stream into its events (WHATWG HTML, 9.2.6). Pieces may be cut anywhere. It holds each event until its
 * blank line. It never throws, because it only searches for line ends.
 */
export class SseSplitter {
  readonly #held = new GatheredBytes();
  /** The last three held characters, because a blank line may be cut in two. */
  #tail = '';

  get heldBytes(): number {
    return this.#held.length;
  }

  /** Whether an event is too large to be held here: its beginning must be taken. */
  get isOverflown(): boolean {
    return this.#held.length > maxSplitBytes;
  }

  /** Forgets the beginning. Another event comes next. */
  takeBeginning(): Buffer {
    this.#tail = '';
    return Buffer.concat(this.#held.take());
  }

  /** @returns the events that are complete now */
  push(chunk: Buffer): SseBatch {
    if (chunk.length === 0) return nothing;
    const arrived = chunk.toString('latin1');
    const seen = this.#tail + arrived;
    const isFirst = this.#held.length === 0;
    this.#held.add(chunk);
    if (lastBoundary(seen) === 0) {
      this.#tail = seen.slice(-3);
      return nothing;
    }
    const bytes = this.#held.bytes;
    this.#held.take();
    const text = isFirst ? arrived : bytes.toString('latin1');
    const end = lastBoundary(text);
    if (end < bytes.length) this.#held.add(bytes.subarray(end));
    this.#tail = text.slice(Math.max(end, text.length - 3));
    return { bytes: bytes.subarray(0, end), events: eventsIn(text, bytes, end) };
  }

  /** Ends the stream: the held bytes become a last event, with the missing blank line. */
  finish(): SseBatch {
    if (this.#held.length === 0) return nothing;
    const bytes = Buffer.concat([...this.#held.take(), blankLine]);
    return { bytes, events: eventsIn(bytes.toString('latin1'), bytes, bytes.length) };
  }
}

/**
 * The offset after the last blank line; 0 without one. A carriage return at the end of the text does not count yet,
 * because a line feed may follow.
 */
function lastBoundary(text: string): number {
  const feeds = text.lastIndexOf('\n\n');
  let end = feeds === -1 ? 0 : feeds + 2;
  if (!text.includes('\r')) return end;
  const mixed = /(?:\r\n|\n|\r(?!\n|$))(?:\r\n|\n|\r(?!$))/g;
  mixed.lastIndex = Math.max(0, end - 1);
  for (let match = mixed.exec(text); match !== null; match = mixed.exec(text)) {
    end = Math.max(end, match.index + match[0].length);
    // The second line end may also be the first one of the next blank line.
    mixed.lastIndex = match.index + 1;
  }
  return end;
}

function eventsIn(text: string, bytes: Buffer, end: number): ReadonlyArray<SseEvent> {
  const events: SseEvent[] = [];
  const lines = new LineEnds(text);
  let start = 0;
  let data: string | null = null;
  let at = 0;
  while (at < end) {
    const lineEnd = lines.from(at);
    const next = afterLine(text, lineEnd);
    if (lineEnd === at) {
      events.push({ start, end: next, data });
      start = next;
      data = null;
    } else {
      const said = dataOf(text, bytes, at === 0 && text.startsWith(byteOrderMark) ? at + 3 : at, lineEnd);
      if (said !== null) data = data === null ? said : `${data}\n${said}`;
    }
    at = next;
  }
  return events;
}

/** Finds line ends. Each part of the text is searched once, whichever line ends it has. */
class LineEnds {
  readonly #text: string;
  #feed = -1;
  #return = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next line end. The offset never goes back. */
  from(offset: number): number {
    if (this.#feed < offset) this.#feed = this.#next('\n', offset);
    if (this.#return < offset) this.#return = this.#next('\r', offset);
    return Math.min(this.#feed, this.#return);
  }

  #next(character: string, offset: number): number {
    const found = this.#text.indexOf(character, offset);
    return found === -1 ? this.#text.length : found;
  }
}

function afterLine(text: string, lineEnd: number): number {
  const isPair = text.charCodeAt(lineEnd) === carriageReturn && text.charCodeAt(lineEnd + 1) === lineFeed;
  return lineEnd + (isPair ? 2 : 1);
}

/** The data in a line; null for any other line. */
function dataOf(text: string, bytes: Buffer, start: number, end: number): string | null {
  if (!text.startsWith('data', start)) return null;
  const colon = start + 4;
  if (colon === end) return '';
  if (text[colon] !== ':') return null;
  const from = text[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return bytes.toString('utf8', Math.min(from, end), end);
}
