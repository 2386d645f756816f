import type { InputError } from '#domain/shared/failure.ts';
import type { Json } from '#shared/json/json.ts';

/** The longest part of a text that an error shows to its sender. */
const maxShownLength = 200;

/** What is wrong with a value, which is shown where it is short: prompts are not sent back. */
export function inputError(pointer: string, message: string, value: Json): InputError {
  const isShown =
    value === null ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && value.length <= maxShownLength);
  return isShown ? { pointer, message, input: value } : { pointer, message };
}

/** What is wrong with a text that must be there. */
export function checkText(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  if (value === undefined) return [{ pointer, message: 'is required' }];
  return typeof value === 'string' ? [] : [inputError(pointer, 'must be a string', value)];
}

/** What is wrong with a flag; null and absence are false. */
export function checkFlag(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  const isFlag = value === undefined || value === null || typeof value === 'boolean';
  return isFlag ? [] : [inputError(pointer, 'must be true or false', value)];
}
