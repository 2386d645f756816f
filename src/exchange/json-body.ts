import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import {
  endOfWord,
  type JsonFault,
  type JsonListener,
  JsonScanner,
  lineAndColumn,
  maxJsonLevels,
} from '#shared/json/json-scanner.ts';
import {
  type ArrivalLimits,
  arrivalFailure,
  type BodyBytes,
  bodyShortageFailure,
  bodyTooLarge,
  heldBytesOf,
} from './body.ts';
import { invalidInput, maxInputErrors } from './input-errors.ts';
import type { Request } from './request.ts';
import { largeBodyBytes, turn } from './turns.ts';

interface JsonBodyLimits {
  readonly maxBytes: number;
  readonly arrival: ArrivalLimits;
}

/**
 * Reads a body and counts it among what is held. Does not check its syntax.
 * @returns no bytes without a body; unsupported-media-type, body-too-large, or why it did not arrive completely
 * @throws ClientDisconnectedError
 */
export async function readJsonBytes(
  { headers, body, held }: Pick<Request, 'headers' | 'held'> & { readonly body: BodyBytes },
  { maxBytes, arrival: limits }: JsonBodyLimits,
): Promise<E.Either<Failure, Buffer>> {
  if (!body.isPresent) return E.right(Buffer.alloc(0));
  const refused = checkJsonMediaType(headers);
  if (refused !== null) return E.left(refused);
  if (body.announcedBytes > maxBytes) return E.left(bodyTooLarge(maxBytes));
  const shortage = held.body.shortageOf(body.announcedBytes);
  if (shortage !== null) return E.left(bodyShortageFailure(shortage));
  // Node passes on a body that has arrived with the headers only when the code that got the headers has returned.
  await null;
  const buffered = body.takeBuffered();
  if (buffered !== null) {
    const lacking = held.body.take(heldBytesOf(buffered));
    return lacking === null ? E.right(buffered) : E.left(bodyShortageFailure(lacking));
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  const arrival = await body.receive(limits, held.body, (piece) => {
    bytes += piece.length;
    pieces.push(piece);
    return bytes <= maxBytes;
  });
  const failed = arrivalFailure(arrival, maxBytes);
  if (failed !== null) return E.left(failed);
  return E.right(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, bytes));
}

const jsonType = /^application\/(?:json|[\w!#$&^.+-]+\+json)$|^[\w!#$&^.-]+\/[\w!#$&^.+-]+\+json$/i;
const utf8 = /^"?utf-?8"?$/i;

/** Only uncompressed JSON in UTF-8 is accepted. */
function checkJsonMediaType(headers: IncomingHttpHeaders): Failure | null {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return failure('unsupported-media-type', 'The body must not be compressed: send it without Content-Encoding.');
  }
  if (headers['content-type'] === 'application/json') return null;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  if (!jsonType.test(type)) {
    return failure('unsupported-media-type', 'The body must be JSON: send it with Content-Type: application/json.');
  }
  const charset = parameters.find((parameter) => /^charset\s*=/i.test(parameter))?.replace(/^charset\s*=\s*/i, '');
  if (charset !== undefined && !utf8.test(charset)) {
    return failure('unsupported-media-type', 'The body must be UTF-8: send it with charset=utf-8, or without charset.');
  }
  return null;
}

/**
 * The object may have a member `__proto__`, so never assign it onto another object.
 * @returns invalid-encoding, nesting-too-deep, too-many-values, malformed-json or invalid-input (no object; numbers
 *   that are too large; halves of surrogate pairs)
 */
export async function parseJsonObject(bytes: Buffer, maxValues: number): Promise<E.Either<Failure, JsonObject>> {
  const scanned = await scanJsonObject(bytes, maxValues);
  if (E.isLeft(scanned)) return scanned;
  const isLarge = bytes.length > largeBodyBytes;
  if (isLarge) await turn(currentWorkOwner(), 'body', bytes.length);
  const text = bytes.toString('utf8');
  const object = JSON.parse(text) as JsonObject;
  if (!mayHoldUnsafe.test(text)) return E.right(object);
  if (isLarge) await turn(currentWorkOwner(), 'body', bytes.length);
  const errors = unsafeValues(object);
  return errors.length > 0 ? E.left(invalidInput(errors)) : E.right(object);
}

/**
 * Checks a body and stores no values: the body may have numbers and strings that JavaScript cannot represent. Other
 * requests are served between two slices of a large body; a small one is scanned in one piece.
 * @returns the number of values in the body; or invalid-encoding, nesting-too-deep, too-many-values, malformed-json or
 * invalid-input (no object)
 */
export function scanJsonObject(
  bytes: Buffer,
  maxValues: number,
  listener?: JsonListener,
): E.Either<Failure, number> | Promise<E.Either<Failure, number>> {
  if (bytes.length > largeBodyBytes) return scanInSlices(bytes, maxValues, listener);
  if (!isUtf8(bytes)) return E.left(notUtf8);
  const scanner = new JsonScanner(bytes, { maxValues }, listener);
  // The first slice has all of it.
  scanner.advance();
  return scannedObject(bytes, scanner, maxValues);
}

async function scanInSlices(
  bytes: Buffer,
  maxValues: number,
  listener?: JsonListener,
): Promise<E.Either<Failure, number>> {
  const scanner = new JsonScanner(bytes, { maxValues }, listener);
  await turn(currentWorkOwner(), 'body', scanner.bytesOfSlice);
  if (!isUtf8(bytes)) return E.left(notUtf8);
  while (!scanner.advance()) await turn(currentWorkOwner(), 'body', scanner.bytesOfSlice);
  return scannedObject(bytes, scanner, maxValues);
}

function scannedObject(bytes: Buffer, scanner: JsonScanner, maxValues: number): E.Either<Failure, number> {
  if (scanner.fault !== null) return E.left(faultyJson(bytes, scanner, scanner.fault, maxValues));
  return scanner.isObject ? E.right(scanner.values) : E.left(noObject);
}

const notUtf8 = failure('invalid-encoding', 'The body holds bytes that are not UTF-8.');

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
  if (offset > maxCountedBytes) return ` (byte ${offset})`;
  const { line, column } = lineAndColumn(bytes, offset);
  return ` (line ${line}, column ${column})`;
}

/** Offset up to which lines are counted. Beyond it counting would take long, and nobody looks for a line. */
const maxCountedBytes = 1024 * 1024;

const byteOrderMark = Buffer.from('\ufeff');

/**
 * A text without these has neither an overflowing number nor half a surrogate pair, so its values need no check. A
 * number overflows at 309 digits; an exponent of two digits gives at most 99. Digits are counted from the first of them
 * alone, so that many runs of 209 cost no more than one.
 */
const mayHoldUnsafe = /\\u[dD][89a-fA-F]|[eE]\+?\d{3}|(?<!\d)\d{210}/;

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

/** Every integer of at most 15 digits is exact. A text without a longer one is not scanned. */
const mayHoldInexact = /(?<!\d)\d{16}/;
const integer = /^-?\d+$/;

/**
 * Finds the integers in a JSON text that JavaScript gives back with other digits, such as `9007199254740993`. Other
 * requests are served between two slices.
 * @param bytes a valid JSON text
 * @returns at most 100 faults, in the order of the text
 */
export async function inexactIntegers(bytes: Buffer): Promise<ReadonlyArray<InputError>> {
  const errors: InputError[] = [];
  if (!mayHoldInexact.test(bytes.toString('latin1'))) return errors;
  const scanner: JsonScanner = new JsonScanner(
    bytes,
    { maxValues: Number.POSITIVE_INFINITY },
    {
      maxLevel: maxJsonLevels,
      begin: (_, start) => {
        if (errors.length < maxInputErrors && !isExact(wordAt(bytes, start)))
          errors.push({ pointer: scanner.pointer().toWellFormed(), message: inexactMessage });
      },
      end: () => undefined,
    },
  );
  while (!scanner.advance()) await turn(currentWorkOwner(), 'body', scanner.bytesOfSlice);
  return errors;
}

const inexactMessage = 'must be an integer that JSON gives back with the same digits; send it as a text';

export function numberNotExact(errors: ReadonlyArray<InputError>): Failure | null {
  const [first] = errors;
  if (first === undefined) return null;
  return failure('number-not-exact', `${first.pointer} ${inexactMessage}.`, { errors });
}

/** The number at a place; empty for any value that is not a number. */
function wordAt(bytes: Buffer, start: number): string {
  const code = bytes[start] as number;
  const isNumber = code === 0x2d || (code >= 0x30 && code <= 0x39);
  return isNumber ? bytes.toString('latin1', start, endOfWord(bytes, start, code)) : '';
}

/** Whether a word is not an integer, or keeps its digits. One beyond a double has a fault of its own. */
function isExact(word: string): boolean {
  if (word.length < 16 || !integer.test(word)) return true;
  const value = Math.abs(Number(word));
  return !Number.isFinite(value) || digitsOf(value) === word.replace('-', '');
}

/** The digits as JSON writes a whole number, also beyond 10²¹, where it writes an exponent. */
function digitsOf(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e+');
  return exponent === undefined ? mantissa : mantissa.replace('.', '').padEnd(Number(exponent) + 1, '0');
}
