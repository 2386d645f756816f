import { EncodedJson, encodeJson } from '#shared/json/json.ts';

/** A JSON object. Free-form JSON inside it may be deep. */
export type DocumentValue = object;

/**
 * A document that may hold facts of which there is only one: an active version of a flow, a default of a project. Where
 * documents are not stored together, two of one answer may claim the same one (`keepNewestClaims`).
 */
export interface ClaimingDocument {
  /**
   * What it alone claims, with blanks between: the id of its flow for an active version. It is the first member, so
   * that it can be read without parsing the document. It has no quotes and no backslashes.
   */
  readonly claims: string;
}

type RecordOf<Value> = Value[keyof Value & 'record'];

/**
 * A document from a read store: its JSON text, of which only the requested part is parsed.
 *
 * Most queries answer with the stored member `record` of a document. `recordLast` has moved it to the end of the text,
 * after members that are neither objects nor lists, so it can be cut out without parsing it.
 */
export class StoredDocument<Value extends DocumentValue = DocumentValue> {
  readonly id: string;
  /** The order of the event that created it. Lists are in this order, then by id. */
  readonly order: number;
  readonly text: string;
  /**
   * The position of the last event that touched it, or of a later removal in the same batch. It includes every event up
   * to this position.
   */
  readonly position: number;
  #head: Omit<Value, 'record'> | undefined;

  constructor(id: string, order: number, text: string, position: number) {
    this.id = id;
    this.order = order;
    this.text = text;
    this.position = position;
  }

  /** Each call parses the document again. */
  get value(): Value {
    return JSON.parse(this.text) as Value;
  }

  /** The members next to the record: tenant and revision. */
  get head(): Omit<Value, 'record'> {
    this.#head ??= this.#parseHead();
    return this.#head;
  }

  /** The claims, which are read without parsing; an empty text if it has none. */
  get claims(): string {
    if (!this.text.startsWith(claimsStart)) return '';
    return this.text.slice(claimsStart.length, this.text.indexOf('"', claimsStart.length));
  }

  /** @throws Error if it has none */
  get record(): EncodedJson<RecordOf<Value>> {
    const cut = cutOf(this.text);
    if (cut !== null) return new EncodedJson(this.text.slice(cut.recordStart, -1));
    const value: { readonly record?: unknown } = this.value;
    if (value.record === undefined) throw new Error(`Document ${this.id} has no record.`);
    return encodeJson(value.record as RecordOf<Value>);
  }

  #parseHead(): Omit<Value, 'record'> {
    const cut = cutOf(this.text);
    if (cut !== null) return JSON.parse(`${this.text.slice(0, cut.headEnd)}}`);
    const { record: _, ...head } = this.value as Value & { readonly record?: unknown };
    return head;
  }
}

/**
 * Puts the record last, as `StoredDocument` expects it in the stored text. A document without a record is returned
 * unchanged.
 */
export function recordLast(value: DocumentValue): DocumentValue {
  if (!Object.hasOwn(value, 'record') || Object.keys(value).at(-1) === 'record') return value;
  const { record, ...head } = value as { readonly record: unknown };
  return { ...head, record };
}

interface Cut {
  readonly headEnd: number;
  /** Where the record begins. It ends one character before the text does. */
  readonly recordStart: number;
}

const claimsStart = '{"claims":"';
const recordName = '"record":';
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Where to cut the text; null if other values than texts, numbers, booleans and nulls come before the record. */
function cutOf(text: string): Cut | null {
  let start = 1;
  while (text.charCodeAt(start) === quote) {
    if (text.startsWith(recordName, start)) {
      return { headEnd: Math.max(1, start - 1), recordStart: start + recordName.length };
    }
    const end = endOfScalar(text, endOfString(text, start) + 1);
    if (text.charCodeAt(end) !== comma) return null;
    start = end + 1;
  }
  return null;
}

/**
 * Returns the index after a text, a number, a boolean or null; for an object or a list, that of its first character.
 */
function endOfScalar(text: string, start: number): number {
  switch (text.charCodeAt(start)) {
    case quote:
      return endOfString(text, start);
    case openBrace:
    case openBracket:
      return start;
    default:
      return text.indexOf(',', start);
  }
}

/** The index after the quote that ends the text at `start`. Stored texts are valid JSON. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

/** True if an odd number of backslashes is before the quote. */
function isEscaped(text: string, quoteAt: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quoteAt - 1 - slashes) === backslash) slashes += 1;
  return slashes % 2 === 1;
}
