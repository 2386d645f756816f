/**
 * The canonical text of a value (RFC 8785): members sorted by UTF-16 code units, no white space, numbers and strings as
 * JSON.stringify writes them.
 *
 * It agrees with JSON.stringify on what cannot be written: members that are undefined are left out, an infinite number
 * (`1e999` in a body) is null and a lone surrogate is escaped. RFC 8785 has these refused; here they must come out as
 * they are stored, or the hash of an event would not be that of its stored text. Half the cost of the `canonicalize`
 * package, to which the tests hold it.
 *
 * @param value a JSON value, as `JSON.parse` gives it; nested no deeper than the stack allows
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
}

function canonicalArray(values: ReadonlyArray<unknown>): string {
  let text = '[';
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ',';
    text += canonicalJson(value);
  }
  return `${text}]`;
}

function canonicalObject(object: Record<string, unknown>): string {
  let text = '{';
  for (const name of Object.keys(object).sort()) {
    const member = object[name];
    if (member === undefined) continue;
    if (text !== '{') text += ',';
    text += `${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}
