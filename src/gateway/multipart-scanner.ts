/** A part of a multipart body, by its place in the bytes. */
export interface Part {
  readonly name: string;
  /** Null for a part that is no file. */
  readonly filename: string | null;
  /** Of its headers, past the delimiter's line. */
  readonly start: number;
  /** Of its content. */
  readonly contentStart: number;
  /** Past its content. */
  readonly end: number;
  /** Its content; null for a file. */
  readonly text: string | null;
}

/** What is wrong with a multipart body. */
export type MultipartFault = 'ended-early' | 'malformed' | 'too-many-parts' | 'text-too-long';

const headerBytesAtMost = 16 * 1024;
const textBytesAtMost = 1024 * 1024;
const partsAtMost = 1_000;
const lineEnd = '\r\n';

type State = 'delimiter' | 'after-delimiter' | 'headers' | 'content' | 'end';

/** The boundary that a content type names; null for one that is no multipart/form-data. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (contentType === undefined || !/^\s*multipart\/form-data\s*;/i.test(contentType)) return null;
  const boundary = parametersOf(contentType).get('boundary') ?? '';
  return boundary.length >= 1 && boundary.length <= 70 && /^[\x20-\x7e]+$/.test(boundary) ? boundary : null;
}

/** Finds the parts of a multipart/form-data body (RFC 7578) that comes in pieces, and holds no more of it than it must. */
export class MultipartScanner {
  readonly parts: Part[] = [];
  fault: MultipartFault | null = null;
  readonly #delimiter: Buffer;
  /** What may yet be the beginning of what is looked for. */
  #window: Buffer;
  /** Where the window stands in the body. The first delimiter has no line end before it: one is thought there. */
  #windowAt = -lineEnd.length;
  #state: State = 'delimiter';
  #open: { name: string; filename: string | null; start: number; contentStart: number } | null = null;
  #partStart = 0;
  #text: Buffer[] | null = null;
  #textBytes = 0;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`${lineEnd}--${boundary}`, 'latin1');
    this.#window = Buffer.from(lineEnd);
  }

  push(chunk: Buffer): void {
    if (this.fault !== null || this.#state === 'end') return;
    this.#window = this.#window.length === 0 ? chunk : Buffer.concat([this.#window, chunk]);
    while (this.fault === null && this.#step()) {
      // Each step takes what it understood off the window.
    }
  }

  /** The body has ended. */
  finish(): void {
    if (this.fault === null && this.#state !== 'end') this.fault = 'ended-early';
  }

  /** @returns whether there may be more to understand in the window */
  #step(): boolean {
    switch (this.#state) {
      case 'delimiter':
        return this.#skipTo(this.#delimiter, 'after-delimiter');
      case 'after-delimiter':
        return this.#readDelimiterEnd();
      case 'headers':
        return this.#readHeaders();
      case 'content':
        return this.#readContent();
      case 'end':
        return false;
    }
  }

  #skipTo(sought: Buffer, next: State): boolean {
    const at = this.#window.indexOf(sought);
    if (at === -1) {
      this.#drop(Math.max(0, this.#window.length - sought.length + 1));
      return false;
    }
    this.#drop(at + sought.length);
    this.#state = next;
    return true;
  }

  /** The rest of a delimiter's line: two dashes end the body, white space is passed over. */
  #readDelimiterEnd(): boolean {
    if (this.#window.length < 2) return false;
    if (this.#window.toString('latin1', 0, 2) === '--') {
      this.#state = 'end';
      return false;
    }
    const end = this.#window.indexOf(lineEnd);
    if (end === -1) {
      if (this.#window.length > headerBytesAtMost) this.fault = 'malformed';
      return false;
    }
    if (!/^[ \t]*$/.test(this.#window.toString('latin1', 0, end))) this.fault = 'malformed';
    this.#drop(end + lineEnd.length);
    this.#partStart = this.#windowAt;
    this.#state = 'headers';
    return true;
  }

  #readHeaders(): boolean {
    const noHeaders = this.#window.toString('latin1', 0, 2) === lineEnd;
    const end = noHeaders ? 0 : this.#window.indexOf(lineEnd + lineEnd);
    if (end === -1) {
      if (this.#window.length > headerBytesAtMost) this.fault = 'malformed';
      return false;
    }
    const { name, filename } = dispositionIn(this.#window.toString('utf8', 0, end));
    if (this.parts.length >= partsAtMost) this.fault = 'too-many-parts';
    if (name === null) this.fault = 'malformed';
    // The line end before the delimiter may be the one that ends the headers: it is left in the window.
    this.#drop(end + (noHeaders ? lineEnd.length : 2 * lineEnd.length));
    this.#open = { name: name ?? '', filename, start: this.#partStart, contentStart: this.#windowAt };
    this.#text = filename === null ? [] : null;
    this.#state = 'content';
    return true;
  }

  #readContent(): boolean {
    const at = this.#window.indexOf(this.#delimiter);
    if (at === -1) {
      this.#keep(Math.max(0, this.#window.length - this.#delimiter.length + 1));
      return false;
    }
    this.#keep(at);
    const { name = '', filename = null, start = 0, contentStart = 0 } = this.#open ?? {};
    const text = this.#text === null ? null : Buffer.concat(this.#text).toString('utf8');
    this.parts.push({ name, filename, start, contentStart, end: this.#windowAt, text });
    this.#drop(this.#delimiter.length);
    this.#state = 'after-delimiter';
    return true;
  }

  /** Takes content off the window; of a text it is remembered. */
  #keep(bytes: number): void {
    if (this.#text !== null) {
      this.#textBytes += bytes;
      if (this.#textBytes > textBytesAtMost) this.fault = 'text-too-long';
      else this.#text.push(Buffer.from(this.#window.subarray(0, bytes)));
    }
    this.#drop(bytes);
  }

  #drop(bytes: number): void {
    this.#window = this.#window.subarray(bytes);
    this.#windowAt += bytes;
  }
}

function dispositionIn(headers: string): { readonly name: string | null; readonly filename: string | null } {
  const line = headers.split(lineEnd).find((header) => /^content-disposition[ \t]*:/i.test(header)) ?? '';
  const parameters = parametersOf(line);
  if (!/^content-disposition[ \t]*:[ \t]*form-data/i.test(line)) return { name: null, filename: null };
  return {
    name: parameters.get('name') ?? null,
    filename: parameters.get('filename') ?? parameters.get('filename*') ?? null,
  };
}

/** The parameters of a header, by their names in lower case. A quote in a value is `\"` or `%22`. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of header.matchAll(
    /;[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g,
  )) {
    const value = quoted === undefined ? plain : quoted.replaceAll('\\"', '"').replaceAll('%22', '"');
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return found;
}
