import type { Json } from '#shared/json/json.ts';
import { placeholdersIn } from './placeholders.ts';

/** Default limit of the JSON of all filled schemas in one operation. */
export const defaultMaxFilledBytes = 16 * 1024 * 1024;

/** The size of schemas after placeholders are filled. */
export interface FilledSize {
  /** The size of the JSON texts together. */
  readonly bytes: number;
  /** The field whose value takes most of the bytes; null if no value takes any. */
  readonly largestField: string | null;
}

/** Computes the size without filling the schemas. It also counts escaping backslashes, which filling removes. */
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

/** The size of a text inside a JSON string. */
function escapedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
