import * as t from 'io-ts';
import type { JsonObject } from '#shared/json/json.ts';
import { withJsonSchema } from './json-schema.ts';

/** The length in Unicode code points. Every limit of "characters" counts these. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count -= 1;
        index += 1;
      }
    }
  }
  return count;
}

/** @param check returns what is wrong with a value; null for nothing */
export function textThat(name: string, check: (value: string) => string | null, schema: JsonObject): t.Type<string> {
  const codec = new t.Type<string, string, unknown>(
    name,
    t.string.is,
    (value, context) => {
      if (typeof value !== 'string') return t.failure(value, context, 'must be a string');
      const fault = check(value);
      return fault === null ? t.success(value) : t.failure(value, context, fault);
    },
    t.identity,
  );
  return withJsonSchema(codec, { type: 'string', ...schema });
}

/** A text with limits in characters (code points). Without bounds, any string. */
export function text(bounds: { min?: number; max?: number } = {}): t.Type<string> {
  const { min = 0, max = Number.POSITIVE_INFINITY } = bounds;
  const check = (value: string) => {
    const length = value.length <= max && value.length >= min * 2 ? value.length : codePoints(value);
    if (length < min) return `must have at least ${min} character${min === 1 ? '' : 's'}`;
    if (length > max) return `must have at most ${max} characters, has ${length}`;
    return null;
  };
  return textThat(`text(${min}..${max})`, check, {
    ...(min > 0 ? { minLength: min } : {}),
    ...(max < Number.POSITIVE_INFINITY ? { maxLength: max } : {}),
  });
}

/** @param fault what is wrong with a string that does not match */
export function textLike(pattern: RegExp, fault = `must match ${pattern.source}`): t.Type<string> {
  const check = (value: string) => (pattern.test(value) ? null : fault);
  return textThat(`text like ${pattern.source}`, check, { pattern: pattern.source });
}

/**
 * Only decodes: its `is` accepts no value.
 * @param issue what is wrong with a value that cannot be converted
 * @param read converts a text; null if it cannot
 */
export function textAs<Value>(
  name: string,
  issue: string,
  read: (text: string) => Value | null,
): t.Type<Value, unknown, unknown> {
  return new t.Type<Value, unknown, unknown>(
    name,
    (_value): _value is Value => false,
    (value, context) => {
      const result = typeof value === 'string' ? read(value) : null;
      return result === null ? t.failure(value, context, issue) : t.success(result);
    },
    t.identity,
  );
}

const maxEmailCharacters = 254;
const emailPattern =
  /^(?=.{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * The mailbox of RFC 5321 without quoted local parts and address literals, at a host with at least two labels. Only a
 * message can show whether the address exists.
 */
export const email = textThat(
  'email',
  (value) => {
    if (value.length > maxEmailCharacters)
      return `must have at most ${maxEmailCharacters} characters, has ${codePoints(value)}`;
    return emailPattern.test(value) ? null : 'must be an e-mail address, like name@example.com';
  },
  { format: 'email', maxLength: maxEmailCharacters },
);
