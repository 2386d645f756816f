import { parseForeign } from '#gateway/framing/foreign-json.ts';
import { keptText } from '#gateway/framing/json-text.ts';
import { isObject, type Json } from '#shared/json/json.ts';

/** What providers need in the schema of a tool's arguments: OpenAI both, Anthropic the type. */
const wanted = { type: '"object"', properties: '{}' } as const;

/** The JSON text of a tool's schema, as the client sent it; null for one that says nothing: none, null or `{}`. */
export function schemaIn(value: Json | undefined): string | null {
  const text = keptText(value);
  return text === null || /^\{\s*\}$/.test(text) ? null : text;
}

/** A schema of arguments, with the members that it lacks at its beginning. Every other byte is as it came. */
export function schemaWith(schema: string, members: ReadonlyArray<keyof typeof wanted>): string {
  const value = parseForeign(schema);
  if (!isObject(value) || (value.type ?? 'object') !== 'object') return schema;
  const missing = members.filter((name) => !Object.hasOwn(value, name)).map((name) => `"${name}":${wanted[name]},`);
  return missing.length === 0 ? schema : `{${missing.join('')}${schema.slice(schema.indexOf('{') + 1)}`;
}
