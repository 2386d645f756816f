import type { InputError } from '#domain/failure.ts';
import type { Json } from '#src/json.ts';

/** The longest text that is shown to whoever sent it. */
const shownAtMost = 200;

/** What is wrong with a value, which is shown where it is short: prompts are not sent back. */
export function faultOf(pointer: string, message: string, value: Json): InputError {
  const isShown =
    value === null ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && value.length <= shownAtMost);
  return isShown ? { pointer, message, input: value } : { pointer, message };
}

/** What is wrong with a text that must be there. */
export function textFaults(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  if (value === undefined) return [{ pointer, message: 'is required' }];
  return typeof value === 'string' ? [] : [faultOf(pointer, 'must be a string', value)];
}

/** What is wrong with a flag; null and absence are false. */
export function flagFaults(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  const isFlag = value === undefined || value === null || typeof value === 'boolean';
  return isFlag ? [] : [faultOf(pointer, 'must be true or false', value)];
}
