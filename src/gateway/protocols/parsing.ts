import * as E from 'fp-ts/lib/Either.js';
import { type Effort, efforts, type PlacedValue, type Unsupported } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import type { LeftOut } from './left-out.ts';

/** The message of a request that must not lose anything. */
export const leftOutMessage = 'the target does not get this, and the request prefers strict handling';

/** Thrown while a request is parsed or written. `orUnsupported` catches it. */
class UnsupportedError extends Error {
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.name = 'UnsupportedError';
    this.pointer = pointer;
  }
}

export function refuse(pointer: string, message: string): never {
  throw new UnsupportedError(pointer, message);
}

/** Maximum length of a client's text in a message. */
const maxShown = 100;

/** A value in a message: a text in quotes, cut if it is long, or only what a value with others in it is. */
export function shown(value: Json | undefined): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > maxShown ? `${value.slice(0, maxShown)}…` : value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'of a list' : 'of an object';
}

/** Returns what `work` refused, or its result. */
export function orUnsupported<Result>(work: () => Result): E.Either<Unsupported, Result> {
  try {
    return E.right(work());
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
    return E.left({ pointer: error.pointer, message: error.message });
  }
}

/** The text of the user's content; null without one. Anything else would be lost, so it is refused. */
export function textAt(value: Json | undefined, pointer: string): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  return refuse(pointer, `must be a text, and is ${kindOf(value)}`);
}

/** The text; null without one. */
export function placedText(value: Json | undefined, pointer: string): PlacedValue<string> | null {
  const text = textAt(value, pointer);
  return text === null || text === '' ? null : { value: text, pointer };
}

/** The list of the user's content, or of what demands something; empty without a list. Anything else is refused. */
export function listAt(value: Json | undefined, pointer: string): ReadonlyArray<Json> {
  if (value === undefined || value === null || Array.isArray(value)) return value ?? [];
  return refuse(pointer, `must be a list, and is ${kindOf(value)}`);
}

/** The stop sequences: one text, or a list of them. An empty text says nothing. */
export function stopsAt(value: Json | undefined, pointer: string): ReadonlyArray<PlacedValue<string>> {
  if (typeof value === 'string') return value === '' ? [] : [{ value, pointer }];
  return listAt(value, pointer).flatMap((each, index) => {
    const place = `${pointer}/${index}`;
    const text = textAt(each, place);
    return text === null || text === '' ? [] : [{ value: text, pointer: place }];
  });
}

export function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : shown(value);
}

export function textOr(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

export function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/**
 * The effort; null without one. The highest ones, which only some models of OpenAI and Anthropic take, are the highest
 * that all take, and one that is not known is between the others (https://platform.openai.com/docs/guides/reasoning,
 * https://platform.claude.com/docs/en/build-with-claude/effort). Both are left out.
 */
export function effortAt(said: Json | undefined, pointer: string, leftOut: LeftOut): Effort | null {
  const name = leftOut.textAt(said, pointer);
  if (name === null) return null;
  const known = efforts.find((each) => each === name);
  if (known === undefined) leftOut.add(pointer);
  return known ?? (name === 'xhigh' || name === 'max' ? 'high' : 'medium');
}

export function listOr(value: Json | undefined): ReadonlyArray<Json> {
  return Array.isArray(value) ? value : [];
}

export function objectOr(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
