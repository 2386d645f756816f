import { isUtf8 } from 'node:buffer';
import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure, type InputError } from '#domain/failure.ts';
import { invalidInput, maxInputErrors, pointerTo } from '#operations/input-errors.ts';
import type { Json, JsonObject } from '#src/json.ts';
import { deeperThan, maxJsonLevels } from '#src/json-scan.ts';

/**
 * The JSON object in a body's bytes. It may hold a member named `__proto__`, as its own: never assign it onto another.
 * @returns invalid-encoding, nesting-too-deep, malformed-json or invalid-input (no object; numbers beyond what can be
 * held; halves of surrogate pairs)
 */
export function parseJsonObject(bytes: Buffer): E.Either<Failure, JsonObject> {
  const read = objectIn(bytes);
  if (E.isLeft(read)) return read;
  const { object, text } = read.right;
  const errors = mayHoldUnsafe.test(text) ? unsafeValues(object) : [];
  return errors.length > 0 ? E.left(invalidInput(errors)) : E.right(object);
}

/** As `parseJsonObject`, but for numbers and strings that cannot be held: for what is not kept but passed on as it is. */
export function readJsonObject(bytes: Buffer): E.Either<Failure, JsonObject> {
  const read = objectIn(bytes);
  return E.isLeft(read) ? read : E.right(read.right.object);
}

function objectIn(bytes: Buffer): E.Either<Failure, { readonly object: JsonObject; readonly text: string }> {
  if (!isUtf8(bytes)) return E.left(failure('invalid-encoding', 'The body holds bytes that are not UTF-8.'));
  const text = bytes.toString('utf8');
  if (deeperThan(text, maxJsonLevels)) {
    return E.left(failure('nesting-too-deep', `The JSON has more than ${maxJsonLevels} levels of arrays and objects.`));
  }
  const parsed = parse(text);
  if (E.isLeft(parsed)) return parsed;
  const value = parsed.right;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return E.left(invalidInput([{ pointer: '', message: 'must be a JSON object' }]));
  }
  return E.right({ object: value as JsonObject, text });
}

function parse(text: string): E.Either<Failure, Json> {
  try {
    return E.right(JSON.parse(text) as Json);
  } catch (error) {
    if (text.trim() === '') return E.left(failure('malformed-json', 'The body is not JSON: it is empty.'));
    if (text.startsWith('\uFEFF'))
      return E.left(failure('malformed-json', 'The body begins with a byte order mark: send the JSON without it.'));
    const place = /line \d+ column \d+/.exec(error instanceof Error ? error.message : '')?.[0];
    const at = place === undefined ? '' : ` (${place.replace(' column', ', column')})`;
    return E.left(failure('malformed-json', `The body is not JSON${at}.`));
  }
}

/**
 * Texts without these can hold neither an overflowing number nor half a surrogate pair, so need no walk. A number
 * overflows at 309 places: an exponent of two digits gives 99 of them at most.
 */
const mayHoldUnsafe = /\\u[dD][89a-fA-F]|[eE]\+?\d{3}|\d{210}/;

function unsafeValues(root: Json): ReadonlyArray<InputError> {
  const errors: InputError[] = [];
  const report = (path: ReadonlyArray<string>, message: string) => {
    errors.push({ pointer: pointerTo(path).toWellFormed(), message });
  };
  const visit = (value: Json, path: ReadonlyArray<string>): void => {
    if (errors.length >= maxInputErrors) return;
    if (typeof value === 'number' && !Number.isFinite(value)) report(path, 'must be a number that a double can hold');
    if (typeof value === 'string' && !value.isWellFormed()) report(path, 'must not hold half a surrogate pair');
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (!key.isWellFormed()) report([...path, key], 'must not have half a surrogate pair in its name');
      if (member !== undefined) visit(member, [...path, key]);
    }
  };
  visit(root, []);
  return errors;
}
