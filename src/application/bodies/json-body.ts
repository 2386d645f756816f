import { isUtf8 } from 'node:buffer';
import * as E from 'fp-ts/lib/Either.js';
import { invalidInput, maxInputErrors } from '#application/operations/input-errors.ts';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import { heavyTurns, largeBodyBytes } from '#shared/async/heavy-turns.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import { type JsonFault, type JsonListener, JsonScanner, maxJsonLevels } from '#shared/json/json-scanner.ts';
import { lineAndColumn } from '#shared/json/line-and-column.ts';

/**
 * Parses the JSON object in a body's bytes. It may have a member `__proto__`, so never assign it onto another object.
 * @param maxValues the most values in the body
 * @returns invalid-encoding, nesting-too-deep, too-many-values, malformed-json or invalid-input (no object; numbers
 * that are too large; halves of surrogate pairs)
 */
export async function parseJsonObject(bytes: Buffer, maxValues: number): Promise<E.Either<Failure, JsonObject>> {
  const scanned = await scanJsonObject(bytes, maxValues);
  if (E.isLeft(scanned)) return scanned;
  const isLarge = bytes.length > largeBodyBytes;
  if (isLarge) await heavyTurns.take(1);
  const text = bytes.toString('utf8');
  const object = JSON.parse(text) as JsonObject;
  if (!mayHoldUnsafe.test(text)) return E.right(object);
  if (isLarge) await heavyTurns.take(1);
  const errors = unsafeValues(object);
  return errors.length > 0 ? E.left(invalidInput(errors)) : E.right(object);
}

/**
 * Scans a body's bytes as JSON without storing values. The body may therefore have numbers and strings that JavaScript
 * cannot represent. Other requests are served between two slices.
 * @param listener is called for the values
 * @returns the number of values in the body; or invalid-encoding, nesting-too-deep, too-many-values, malformed-json or
 * invalid-input (no object)
 */
export async function scanJsonObject(
  bytes: Buffer,
  maxValues: number,
  listener?: JsonListener,
): Promise<E.Either<Failure, number>> {
  if (bytes.length > largeBodyBytes) await heavyTurns.take(1);
  if (!isUtf8(bytes)) return E.left(failure('invalid-encoding', 'The body holds bytes that are not UTF-8.'));
  const scanner = new JsonScanner(bytes, { maxValues }, listener);
  while (!scanner.advance()) await heavyTurns.take(1);
  if (scanner.fault !== null) return E.left(faultyJson(bytes, scanner, scanner.fault, maxValues));
  return scanner.isObject ? E.right(scanner.values) : E.left(noObject);
}

const noObject = invalidInput([{ pointer: '', message: 'must be a JSON object' }]);

function faultyJson(bytes: Buffer, scanner: JsonScanner, { kind, offset }: JsonFault, maxValues: number): Failure {
  switch (kind) {
    case 'too-deep':
      return failure('nesting-too-deep', `The JSON has more than ${maxJsonLevels} levels of arrays and objects.`);
    case 'too-many-values': {
      const detail = `The JSON has more than ${maxValues} values, the limit. Send it in parts.`;
      const message = `is beyond the limit of ${maxValues} values`;
      return failure('too-many-values', detail, { errors: [{ pointer: scanner.pointer(), message }] });
    }
    case 'malformed':
      return failure('malformed-json', `The body is not JSON${whyMalformed(bytes, scanner, offset)}.`);
  }
}

function whyMalformed(bytes: Buffer, scanner: JsonScanner, offset: number): string {
  if (scanner.values === 0 && offset === bytes.length) return ': it is empty';
  if (offset === 0 && bytes.subarray(0, 3).equals(byteOrderMark))
    return ': it begins with a byte order mark, which must be left out';
  const { line, column } = lineAndColumn(bytes, offset);
  return ` (line ${line}, column ${column})`;
}

const byteOrderMark = Buffer.from('\ufeff');

/**
 * A text without these has neither an overflowing number nor half a surrogate pair, so its values need no check. A
 * number overflows at 309 digits; an exponent of two digits gives at most 99.
 */
const mayHoldUnsafe = /\\u[dD][89a-fA-F]|[eE]\+?\d{3}|\d{210}/;

/** A value, with a link to its parent. */
interface Place {
  readonly key: string;
  readonly above: Place | null;
}

function unsafeValues(root: Json): ReadonlyArray<InputError> {
  const errors: InputError[] = [];
  const report = (place: Place | null, message: string) => {
    errors.push({ pointer: pointerTo(keysTo(place)).toWellFormed(), message });
  };
  const visit = (value: Json, place: Place | null): void => {
    if (typeof value === 'number' && !Number.isFinite(value)) report(place, 'must be a number that a double can hold');
    if (typeof value === 'string' && !value.isWellFormed()) report(place, 'must not hold half a surrogate pair');
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (errors.length >= maxInputErrors) return;
      const inside = { key, above: place };
      if (!key.isWellFormed()) report(inside, 'must not have half a surrogate pair in its name');
      if (member !== undefined) visit(member, inside);
    }
  };
  visit(root, null);
  return errors;
}

function keysTo(place: Place | null): ReadonlyArray<string> {
  const keys: string[] = [];
  for (let at = place; at !== null; at = at.above) keys.push(at.key);
  return keys.reverse();
}
