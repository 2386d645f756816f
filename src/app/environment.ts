import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import { inputErrors } from '#exchange/input-errors.ts';
import { wholeNumber } from '#shared/codecs/number.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Variable<Value> {
  readonly name: string;
  /** An error message follows the variable's name. */
  readonly codec: t.Type<Value, unknown, unknown>;
  /** Ends the error message, usually with an example. */
  readonly hint: string;
  /** No message shows the text. */
  readonly isSecret?: boolean;
}

/**
 * @returns undefined if it is unset or empty
 * @throws StartupError with the variable's name, what is wrong with it, and its hint
 */
export function readVariable<Value>(environment: Environment, variable: Variable<Value>): Value | undefined {
  const { name, codec, hint, isSecret = false } = variable;
  const text = readVariableText(environment, name);
  if (text === undefined) return undefined;
  const decoded = codec.decode(text);
  if (E.isRight(decoded)) return decoded.right;
  const [first] = decoded.left;
  const [issue] = inputErrors(decoded.left);
  const shown = isSecret ? '' : `, not ${quoted(String(first?.value))}`;
  throw new StartupError(`${name} ${issue?.message ?? 'is not valid'}${shown}. ${hint}`);
}

/** Undefined if the variable is unset or empty. */
export function readVariableText(environment: Environment, name: string): string | undefined {
  const text = environment[name]?.trim();
  return text === '' ? undefined : text;
}

/**
 * Reads a whole number in a range; the default if the variable is unset.
 * @param example for the error message
 * @throws StartupError as `readVariable` does
 */
export function readWholeNumber<Default extends number | null>(
  environment: Environment,
  name: string,
  byDefault: Default,
  least: number,
  most: number,
  example: number = byDefault ?? least,
): number | Default {
  const hint = `Example: ${name}=${Math.max(example, least)}`;
  return readVariable(environment, { name, codec: wholeNumber(least, most), hint }) ?? byDefault;
}

/** Shortens the text to one line for a message. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
