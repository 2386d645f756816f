import { maxInputErrors } from '#application/operations/input-errors.ts';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import { heavyTurns } from '#shared/async/heavy-turns.ts';
import { JsonScanner, maxJsonLevels } from '#shared/json/json-scanner.ts';
import { endOfWord } from '#shared/json/json-tokens.ts';

/** Every integer of at most 15 digits is exact. A text without a longer one is not scanned. */
const mayHoldInexact = /\d{16}/;
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
          errors.push({ pointer: scanner.pointer().toWellFormed(), message });
      },
      end: () => undefined,
    },
  );
  while (!scanner.advance()) await heavyTurns.take(1);
  return errors;
}

const message = 'must be an integer that JSON gives back with the same digits; send it as a text';

/** Makes the failure that names these integers; null if there are none. */
export function numberNotExact(errors: ReadonlyArray<InputError>): Failure | null {
  const [first] = errors;
  if (first === undefined) return null;
  return failure('number-not-exact', `${first.pointer} ${message}.`, { errors });
}

/** Returns the number that begins at an offset; an empty text for any other value. */
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

/** Returns the digits with which JSON writes a whole number, also beyond 10²¹, where it writes an exponent. */
function digitsOf(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e+');
  return exponent === undefined ? mantissa : mantissa.replace('.', '').padEnd(Number(exponent) + 1, '0');
}
