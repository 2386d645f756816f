import { parseForeign } from '#gateway/framing/foreign-json.ts';
import { isObject } from '#shared/json/json.ts';

/** The schema of a function's arguments, as which other protocols know a tool that takes a free text. */
export const freeTextSchema =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

/** The arguments for a free text. */
export function freeTextArguments(text: string): string {
  return JSON.stringify({ input: text });
}

/** The free text in the arguments that a model wrote for it. */
export function freeTextIn(given: string): string {
  const value = parseForeign(given);
  return isObject(value) && typeof value.input === 'string' ? value.input : given;
}
