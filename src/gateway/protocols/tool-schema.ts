import { maxForeignValues } from '#gateway/framing/foreign-json.ts';
import { MemberCollector, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import { keptText } from '#gateway/framing/json-text.ts';
import { applyEdits, editsOf } from '#gateway/framing/splice.ts';
import type { Json } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';

/** The members that a schema needs: OpenAI needs both, Anthropic the type. */
const wanted = { type: '"object"', properties: '{}' } as const;

const names = wantedNames({ type: [], properties: [], required: [] });

/** The schema as the client sent it; null for one that says nothing: none, null or `{}`. */
export function schemaIn(value: Json | undefined): string | null {
  const text = keptText(value);
  return text === null || /^\{\s*\}$/.test(text) ? null : text;
}

/**
 * The members that the schema lacks come at its beginning. Every other byte is as it came. A null counts as missing:
 * some clients write it for what they do not have.
 */
export function schemaWith(schema: string, members: ReadonlyArray<keyof typeof wanted>): string {
  const bytes = Buffer.from(schema);
  const found = new MemberCollector(bytes, names);
  const scanner = new JsonScanner(bytes, { maxValues: maxForeignValues }, found);
  while (!scanner.advance());
  const memberOf = (name: string) => scalarMember(bytes, found, name);
  if (scanner.fault !== null || !scanner.isObject || (memberOf('type') ?? 'object') !== 'object') return schema;
  const lacking = Object.entries(wanted).filter(([name]) => (memberOf(name) ?? null) === null);
  const remove = memberOf('required') === null ? ['required'] : [];
  const edits = editsOf(found, { replace: Object.fromEntries(lacking), add: members, remove });
  return edits.length === 0 ? schema : applyEdits(bytes, edits).toString('utf8');
}
