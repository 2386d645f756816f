import type { Json } from '#shared/json/json.ts';
import { placeholdersIn } from './placeholders.ts';

/** Bytes of JSON that the filled schemas of one operation may have, unless the operator says otherwise. */
export const defaultMaxFilledBytes = 16 * 1024 * 1024;

/** What schemas take once their placeholders are filled. */
export interface FilledSize {
  /** Of their JSON texts together. */
  readonly bytes: number;
  /** The field whose value takes most of them; null where no value takes any. */
  readonly largestField: string | null;
}

/**
 * What schemas take once their placeholders are filled, without filling them. Escaping backslashes that filling takes
 * away are counted too.
 * @param valueFor the value of a field; undefined where it has none
 */
export function filledSize(schemas: ReadonlyArray<Json>, valueFor: (field: string) => string | undefined): FilledSize {
  const times = new Map<string, number>();
  let bytes = 0;
  for (const schema of schemas) {
    bytes += Buffer.byteLength(JSON.stringify(schema));
    for (const { field } of placeholdersIn(schema)) times.set(field, (times.get(field) ?? 0) + 1);
  }
  const largest = { field: null as string | null, bytes: 0 };
  for (const [field, count] of times) {
    const taken = count * escapedBytes(valueFor(field) ?? '');
    bytes += taken - count * `{{fields.${field}}}`.length;
    if (taken > largest.bytes) Object.assign(largest, { field, bytes: taken });
  }
  return { bytes, largestField: largest.field };
}

/** Of a text inside a JSON string. */
function escapedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
