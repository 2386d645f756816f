import type { Json } from '#shared/json/json.ts';

/**
 * Placeholders in a flow schema: `{{fields.key}}` anywhere in a string is replaced by the value of the template's field
 * `key`, whose name matches `^[a-zA-Z_][a-zA-Z0-9_]*$`. Every other `{{…}}` is plain text, and so are members' names.
 *
 * A backslash right before a placeholder escapes it: `\{{fields.key}}` becomes the text `{{fields.key}}`. Two
 * backslashes there become one, before a placeholder that keeps its meaning; so `\\\{{fields.key}}` becomes
 * `\{{fields.key}}`. Backslashes anywhere else are plain text. (In a JSON document each one is written twice.)
 */
const placeholder = /\{\{fields\.([a-zA-Z_][a-zA-Z0-9_]*)\}\}/g;

/** A string without this text has no placeholder. This check is enough for most strings. */
const opening = '{{fields.';

const backslash = 0x5c;

/** A part of a text: plain text, or the field whose value replaces it. */
export type TemplatePart = string | { readonly field: string };

/** The parts in order, without escaping backslashes. No text is empty. */
export function textParts(text: string): ReadonlyArray<TemplatePart> {
  if (!text.includes(opening)) return text === '' ? [] : [text];
  const parts: TemplatePart[] = [];
  let plain = '';
  let end = 0;
  for (const { 0: whole, 1: field = '', index } of text.matchAll(placeholder)) {
    const slashes = backslashesBefore(text, index, end);
    plain += text.slice(end, index - Math.ceil(slashes / 2));
    end = index + whole.length;
    if (slashes % 2 === 1) {
      plain += whole;
      continue;
    }
    if (plain !== '') parts.push(plain);
    plain = '';
    parts.push({ field });
  }
  plain += text.slice(end);
  return plain === '' ? parts : [...parts, plain];
}

/** Counts backwards, so that a long run of backslashes is read only once. */
function backslashesBefore(text: string, index: number, from: number): number {
  let count = 0;
  while (index - count > from && text.charCodeAt(index - count - 1) === backslash) count += 1;
  return count;
}

export interface Placeholder {
  readonly field: string;
  /** The members and indexes that lead to its string. */
  readonly path: () => ReadonlyArray<string>;
}

/** A value with a link to its parent. */
interface Place {
  readonly value: Json;
  readonly key: string | number;
  readonly above: Place | null;
}

/**
 * Finds the placeholders in all strings, in the order of the text. It does not recurse, because schemas may nest
 * deeply.
 */
export function* placeholdersIn(schema: Json): Generator<Placeholder> {
  const ahead: Place[] = [{ value: schema, key: '', above: null }];
  for (let place = ahead.pop(); place !== undefined; place = ahead.pop()) {
    if (typeof place.value === 'string') yield* placeholdersOf(place);
    else goInside(place, ahead);
  }
}

function* placeholdersOf(place: Place): Generator<Placeholder> {
  const path = () => pathOf(place);
  for (const part of textParts(String(place.value))) if (typeof part !== 'string') yield { field: part.field, path };
}

/** Adds the values that may hold placeholders, with the first on top. */
function goInside(above: Place, ahead: Place[]): void {
  const look = (key: string | number, value: Json | undefined) => {
    if (mayHold(value)) ahead.push({ value, key, above });
  };
  if (Array.isArray(above.value)) {
    for (let index = above.value.length - 1; index >= 0; index -= 1) look(index, above.value[index]);
  } else if (typeof above.value === 'object' && above.value !== null) {
    for (const [key, value] of Object.entries(above.value).reverse()) look(key, value);
  }
}

function mayHold(value: Json | undefined): value is Json {
  return typeof value === 'string' ? value.includes(opening) : typeof value === 'object' && value !== null;
}

function pathOf(place: Place): ReadonlyArray<string> {
  const keys: string[] = [];
  for (let at = place; at.above !== null; at = at.above) keys.push(String(at.key));
  return keys.reverse();
}

export interface PlaceholderValues {
  readonly typeOf: (field: string) => FieldType;
  /** The value; undefined for an optional field without a value. */
  readonly valueFor: (field: string) => string | undefined;
}

/**
 * A string that consists of one placeholder of a number or boolean becomes that JSON value; elsewhere the value's text
 * is inserted. A field without a value gives an empty text. Placeholders in values are not replaced.
 * @param maxCharacters of all strings, because few placeholders and a long value can exceed the memory
 * @returns `too-large` beyond that
 */
export function fillPlaceholders(
  schema: Json,
  values: PlaceholderValues,
  maxCharacters: number,
): { readonly filled: Json } | 'too-large' {
  let left = maxCharacters;
  const fill = (_: string, value: Json): Json => {
    if (typeof value !== 'string' || left < 0) return value;
    const filled = value.includes(opening) ? filledText(value, values, left) : value;
    left -= typeof filled === 'string' ? filled.length : 0;
    if (filled === null) left = -1;
    return filled;
  };
  // JSON.stringify keeps members with any name. Nesting is limited when input is decoded.
  const text = JSON.stringify(schema, fill);
  return left < 0 ? 'too-large' : { filled: JSON.parse(text) };
}

/** @returns null if it needs more characters than are left */
function filledText(
  text: string,
  { typeOf, valueFor }: PlaceholderValues,
  left: number,
): string | number | boolean | null {
  const parts = textParts(text);
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'object') {
    const value = valueFor(only.field);
    if (value !== undefined && typeOf(only.field) === 'number') return Number(value);
    if (value !== undefined && typeOf(only.field) === 'boolean') return value === 'true';
  }
  let length = 0;
  const filled: string[] = [];
  for (const part of parts) {
    const piece = typeof part === 'string' ? part : (valueFor(part.field) ?? '');
    length += piece.length;
    if (length > left) return null;
    filled.push(piece);
  }
  return filled.join('');
}

/** The types of fields. Values are texts for every type. */
export const fieldTypes = ['string', 'number', 'boolean'] as const;

export type FieldType = (typeof fieldTypes)[number];

/** A number as in RFC 8259, section 6. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Null if the text is a value of the type. */
export function fieldValueFault(type: FieldType, value: string): string | null {
  switch (type) {
    case 'string':
      return null;
    case 'number':
      return jsonNumber.test(value) && Number.isFinite(Number(value)) ? null : 'must be a number as JSON writes it';
    case 'boolean':
      return value === 'true' || value === 'false' ? null : 'must be "true" or "false"';
  }
}
