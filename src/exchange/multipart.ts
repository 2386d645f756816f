import { type Failure, failure } from '#domain/shared/failure.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import { invalidInput } from './input-errors.ts';

/** A part of a form. Offsets are those of the bytes of the body. */
export interface FormPart {
  readonly name: string;
  /** The name of the file; null for a part that is not a file. */
  readonly filename: string | null;
  readonly contentType: string | null;
  /** The offset of its headers, past the delimiter's line. */
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
  /** The text of the part; null for a file. */
  readonly text: string | null;
}

/** Takes the content of files while it arrives. The bytes are a view into the pushed chunk. */
export type TakeFileContent = (file: Pick<FormPart, 'name' | 'filename'>, bytes: Buffer) => void;

export type MultipartFault = 'ended-early' | 'malformed' | 'ambiguous-part' | 'too-many-parts' | 'text-too-long';

const maxHeaderBytes = 16 * 1024;
const maxTextBytes = 1024 * 1024;
const maxParts = 1_000;
const lineEnd = '\r\n';

type State = 'preamble' | 'after-delimiter' | 'headers' | 'content' | 'epilogue';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The boundary; null if the type is not multipart/form-data. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (contentType === undefined || !/^\s*multipart\/form-data\s*;/i.test(contentType)) return null;
  const boundary = parametersOf(contentType).get('boundary') ?? '';
  return boundary.length >= 1 && boundary.length <= 70 && /^[\x20-\x7e]+$/.test(boundary) ? boundary : null;
}

/**
 * Finds the parts of a multipart/form-data body (RFC 7578) that arrives in pieces. Keeps as little of it as possible.
 *
 * Providers read the same bytes with different readers, some of which are less strict about delimiters and ends of
 * headers. Bytes that they could read differently are a fault, because a provider would find parts that are unchecked.
 */
export class MultipartScanner {
  readonly parts: FormPart[] = [];
  fault: MultipartFault | null = null;
  /** The name of the part with the fault; null if it is in none or the name is unknown. */
  faultyPart: string | null = null;
  /** A delimiter without the line end before it. */
  readonly #dashBoundary: Buffer;
  /** The bytes that may be the beginning of a delimiter or a header. */
  #window: Buffer;
  /** The offset of the window in the body. The first delimiter has no line end before it, so one is added. */
  #windowAt = -lineEnd.length;
  /** The byte before the window. */
  #lastDropped = 0;
  #state: State = 'preamble';
  #open: Omit<FormPart, 'end' | 'text'> | null = null;
  #partStart = 0;
  #text: Buffer[] | null = null;
  #textBytes = 0;

  readonly #takeFileContent: TakeFileContent | null;

  /** @param takeFileContent default: the content of files is passed over */
  constructor(boundary: string, takeFileContent: TakeFileContent | null = null) {
    this.#takeFileContent = takeFileContent;
    this.#dashBoundary = Buffer.from(`--${boundary}`, 'latin1');
    this.#window = Buffer.from(lineEnd);
  }

  push(chunk: Buffer): void {
    if (this.fault !== null) return;
    this.#window = this.#window.length === 0 ? chunk : Buffer.concat([this.#window, chunk]);
    while (this.fault === null && this.#step()) {
      // Each step removes the bytes that it has read from the window.
    }
  }

  finish(): void {
    if (this.fault === null && this.#state !== 'epilogue') this.fault = 'ended-early';
  }

  /** @returns whether the window may contain more to read */
  #step(): boolean {
    switch (this.#state) {
      case 'preamble':
        return this.#skipPreamble();
      case 'after-delimiter':
        return this.#readDelimiterEnd();
      case 'headers':
        return this.#readHeaders();
      case 'content':
        return this.#readContent();
      case 'epilogue':
        return this.#skipEpilogue();
    }
  }

  #skipPreamble(): boolean {
    const at = this.#lineOfBoundary();
    if (at === -1) {
      this.#drop(this.#settledBytes());
      return false;
    }
    if (!this.#isDelimiter(at)) return this.#fail('malformed');
    this.#drop(at + this.#dashBoundary.length);
    this.#state = 'after-delimiter';
    return true;
  }

  /**
   * The bytes after the last part are not part of the form. Another delimiter there is a fault, because other readers
   * could read a part there.
   */
  #skipEpilogue(): boolean {
    if (this.#lineOfBoundary() !== -1) return this.#fail('malformed');
    this.#drop(this.#settledBytes());
    return false;
  }

  /** The offset of the boundary's dashes after any kind of line end; -1 if there is none. */
  #lineOfBoundary(): number {
    let at = this.#window.indexOf(this.#dashBoundary);
    while (at !== -1 && !isLineBreak(this.#byteBefore(at))) at = this.#window.indexOf(this.#dashBoundary, at + 1);
    return at;
  }

  /** Whether the whole line end of a delimiter is in the window before a place. */
  #isDelimiter(at: number): boolean {
    return at >= 2 && this.#window[at - 2] === carriageReturn && this.#window[at - 1] === lineFeed;
  }

  #byteBefore(at: number): number {
    return (at === 0 ? this.#lastDropped : this.#window[at - 1]) ?? 0;
  }

  /** How many bytes in the window cannot belong to a delimiter. */
  #settledBytes(): number {
    return Math.max(0, this.#window.length - this.#dashBoundary.length - lineEnd.length + 1);
  }

  #fail(fault: MultipartFault, part: string | null = null): false {
    this.fault = fault;
    this.faultyPart = part;
    return false;
  }

  /** Reads what follows a boundary: two dashes end the body, white space is passed over. */
  #readDelimiterEnd(): boolean {
    if (this.#window.length < 2) return false;
    if (this.#window.toString('latin1', 0, 2) === '--') {
      this.#state = 'epilogue';
      return true;
    }
    const end = this.#window.indexOf(lineEnd);
    if (end === -1) {
      if (this.#window.length > maxHeaderBytes) this.fault = 'malformed';
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
      if (this.#window.length > maxHeaderBytes) this.fault = 'malformed';
      return false;
    }
    const { name, filename, contentType, isAmbiguous } = dispositionIn(this.#window.toString('utf8', 0, end));
    if (this.parts.length >= maxParts) return this.#fail('too-many-parts');
    if (isAmbiguous) return this.#fail('ambiguous-part', name);
    if (name === null) return this.#fail('malformed');
    this.#drop(end + (noHeaders ? lineEnd.length : 2 * lineEnd.length));
    this.#open = { name, filename, contentType, start: this.#partStart, contentStart: this.#windowAt };
    this.#text = filename === null ? [] : null;
    this.#state = 'content';
    return true;
  }

  #readContent(): boolean {
    const at = this.#lineOfBoundary();
    if (at === -1) {
      this.#keep(this.#settledBytes());
      return false;
    }
    if (!this.#isDelimiter(at)) return this.#fail('malformed', this.#open?.name ?? null);
    this.#keep(at - lineEnd.length);
    const text = this.#text === null ? null : Buffer.concat(this.#text).toString('utf8');
    if (this.#open !== null) this.parts.push({ ...this.#open, end: this.#windowAt, text });
    this.#drop(lineEnd.length + this.#dashBoundary.length);
    this.#state = 'after-delimiter';
    return true;
  }

  /** Removes content from the window: it keeps a text and passes on a file's content. */
  #keep(bytes: number): void {
    if (this.#text === null) {
      if (this.#open !== null && bytes > 0) this.#takeFileContent?.(this.#open, this.#window.subarray(0, bytes));
    } else {
      this.#textBytes += bytes;
      if (this.#textBytes > maxTextBytes) this.fault = 'text-too-long';
      else this.#text.push(Buffer.from(this.#window.subarray(0, bytes)));
    }
    this.#drop(bytes);
  }

  #drop(bytes: number): void {
    if (bytes > 0) this.#lastDropped = this.#window[bytes - 1] ?? 0;
    this.#window = this.#window.subarray(bytes);
    this.#windowAt += bytes;
  }
}

interface Disposition {
  readonly name: string | null;
  readonly filename: string | null;
  readonly contentType: string | null;
  /** True if another reader might find another name. */
  readonly isAmbiguous: boolean;
}

function dispositionIn(headers: string): Disposition {
  const lines = headers.split(lineEnd);
  const dispositions = lines.filter((header) => /^content-disposition[ \t]*:/i.test(header));
  const [line = ''] = dispositions;
  const isFormData = /^content-disposition[ \t]*:[ \t]*form-data/i.test(line);
  const parameters = parametersOf(line);
  // Some readers end a line at a single CR or LF, or treat a line that begins with a blank as a continuation.
  const hasOddLine = lines.some((header) => /^[ \t]|[\r\n]/.test(header));
  return {
    name: isFormData ? (parameters.get('name') ?? null) : null,
    filename: parameters.get('filename') ?? parameters.get('filename*') ?? null,
    contentType:
      lines.map((header) => /^content-type[ \t]*:[ \t]*(.+)$/i.exec(header)?.[1]?.trim()).find(Boolean) ?? null,
    isAmbiguous: dispositions.length > 1 || hasOddLine || nameCount(line) > 1,
  };
}

function nameCount(header: string): number {
  return Array.from(header.matchAll(parameter)).filter(([, name = '']) => /^name\*?$/i.test(name)).length;
}

const parameter = /;[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g;

/** The parameters by lower-case name. A quote in a value is `\"` or `%22`. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of header.matchAll(parameter)) {
    const value = quoted === undefined ? plain : quoted.replaceAll('\\"', '"').replaceAll('%22', '"');
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return found;
}

function isLineBreak(byte: number): boolean {
  return byte === lineFeed || byte === carriageReturn;
}

export const notMultipart = failure(
  'unsupported-media-type',
  'The body must be multipart/form-data with a boundary, uncompressed.',
);

const faultMessages: Readonly<Record<MultipartFault, string>> = {
  'ended-early': 'ends before its last boundary',
  malformed: 'is not multipart/form-data as RFC 7578 requires',
  'too-many-parts': 'has more than 1000 parts',
  'ambiguous-part': 'must have one Content-Disposition header with one name, on one line',
  'text-too-long': 'has a field of more than 1 MiB that is not a file: a file has a filename',
};

export function multipartFailure({ fault, faultyPart }: Pick<MultipartScanner, 'fault' | 'faultyPart'>): Failure {
  const pointer = faultyPart === null ? '' : pointerTo([faultyPart]);
  return invalidInput([{ pointer, message: faultMessages[fault ?? 'malformed'] }]);
}
