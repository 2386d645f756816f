import type { InputError } from '#domain/shared/failure.ts';
import type { Json } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

/** Maximum number of characters of a value that an error quotes. */
const maxShownLength = 200;

/** An error about a value. It quotes only short values, so that no prompt is sent back. */
export function inputError(pointer: string, message: string, value: Json): InputError {
  const isShown =
    value === null ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && value.length <= maxShownLength);
  return isShown ? { pointer, message, input: value } : { pointer, message };
}

/** No faults: most requests have none. */
const none: ReadonlyArray<InputError> = [];

/** Checks a required text. */
export function checkText(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  if (value === undefined) return [{ pointer, message: 'is required' }];
  return typeof value === 'string' ? none : [inputError(pointer, 'must be a string', value)];
}

/** Checks a flag; null and a missing value are false. */
export function checkFlag(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  const isFlag = value === undefined || value === null || typeof value === 'boolean';
  return isFlag ? none : [inputError(pointer, 'must be true or false', value)];
}

/**
 * Finds names that differ only in case from a resolved one. The gateway replaces `model` by the name in the catalogue.
 * A provider that ignores case would read `Model` instead, which the catalogue has not checked.
 * @param names the names of a request's members or parts, each once
 * @param resolved the names, in lower case, whose values the gateway resolves
 * @returns a fault for each spelling
 */
export function spellingFaults(names: ReadonlySet<string>, resolved: ReadonlyArray<string>): ReadonlyArray<InputError> {
  if (names.size === 0) return none;
  const faults: InputError[] = [];
  for (const name of names) {
    for (const expected of resolved) {
      if (name.length !== expected.length || name === expected || name.toLowerCase() !== expected) continue;
      faults.push({ pointer: pointerTo([name]), message: `must be spelled "${expected}"` });
    }
  }
  return faults;
}
