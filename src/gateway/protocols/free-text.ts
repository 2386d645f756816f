import { parseForeign } from '#gateway/framing/foreign-json.ts';
import { isObject } from '#shared/json/json.ts';

/** Other protocols know a tool that takes a free text as a function with this schema. */
export const freeTextSchema =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

export function freeTextArguments(text: string): string {
  return JSON.stringify({ input: text });
}

export function freeTextIn(given: string): string {
  const value = parseForeign(given);
  return isObject(value) && typeof value.input === 'string' ? value.input : given;
}
