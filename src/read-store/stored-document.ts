import { EncodedJson, encodeJson } from '#shared/json/encoded-json.ts';

/** What a projection keeps: a JSON object. Free-form JSON inside it may be deep. */
export type DocumentValue = object;

/** The type of a document's member `record`. */
type RecordOf<Value> = Value[keyof Value & 'record'];

/**
 * A document as a read store gives it: its JSON text, of which only as much is parsed as is asked for.
 *
 * What most queries answer is a document's member `record`, as it is stored. `recordLast` has put it at the end of the
 * text, behind members that are no objects and no lists, so it can be cut out without being read.
 */
export class StoredDocument<Value extends DocumentValue = DocumentValue> {
  readonly id: string;
  /** The position of the event that created it: lists are in this order, then by id. */
  readonly order: number;
  /** The whole document. */
  readonly text: string;
  #head: Omit<Value, 'record'> | undefined;

  constructor(id: string, order: number, text: string) {
    this.id = id;
    this.order = order;
    this.text = text;
  }

  /** The whole document. Each call parses it again. */
  get value(): Value {
    return JSON.parse(this.text) as Value;
  }

  /** What is stored beside its record: its tenant and its revision. */
  get head(): Omit<Value, 'record'> {
    this.#head ??= this.#parseHead();
    return this.#head;
  }

  /** Its record. @throws Error when it has none */
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
 * The same document with its record as its last member, as `StoredDocument` expects the text of one that is stored.
 * One without a record is given back as it is.
 */
export function recordLast(value: DocumentValue): DocumentValue {
  if (!Object.hasOwn(value, 'record') || Object.keys(value).at(-1) === 'record') return value;
  const { record, ...head } = value as { readonly record: unknown };
  return { ...head, record };
}

interface Cut {
  /** Where the members before the record end. */
  readonly headEnd: number;
  /** Where the record begins; it ends one character before the text does. */
  readonly recordStart: number;
}

const recordName = '"record":';
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Where a document's text is cut; null when its record is not behind texts, numbers, booleans and nulls alone. */
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

/** The index past a text, a number, a boolean or null; that of its first character for an object or a list. */
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

/** The index past the quote that ends the text beginning at `start`. What is stored is sound JSON. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

/** Whether the quote at an index belongs to its text: an odd number of backslashes is before it. */
function isEscaped(text: string, quoteAt: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quoteAt - 1 - slashes) === backslash) slashes += 1;
  return slashes % 2 === 1;
}
