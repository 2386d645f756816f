import type { JsonObject } from '#shared/json/json.ts';
import { members } from '../json-schema.ts';

/**
 * The schema of a multipart body in which each field but a file has its own example: the documentation page makes a form
 * of it, and does not read the example of the whole.
 * @param schema of the body, an object
 * @param example of the body
 */
export function formSchema(schema: JsonObject, example: JsonObject): JsonObject {
  const properties = Object.entries(members(schema)).map(([name, field]) => {
    const value = example[name];
    return [name, value === undefined || isFile(field) ? field : { ...field, examples: [value] }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function isFile({ format }: JsonObject): boolean {
  return format === 'binary';
}
