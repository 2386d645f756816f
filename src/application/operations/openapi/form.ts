import type { JsonObject } from '#shared/json/json.ts';
import { members } from '../json-schema.ts';

/**
 * Makes the schema of a multipart body in which each field except a file has an example. The documentation page makes a
 * form from it and ignores the example of the whole body.
 * @param schema the object schema of the body
 * @param example the example of the body
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
