import type { OutputForm } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import type { LeftOut } from './left-out.ts';
import { objectOr, placedText, refuse, textAt } from './parsing.ts';
import { schemaIn } from './tool-schema.ts';

/** @param described the member of a form that describes its schema; null if the form does that itself */
export function openAiOutput(
  format: Json | undefined,
  pointer: string,
  described: string | null,
  leftOut: LeftOut,
): OutputForm | null {
  if (format === undefined || format === null) return null;
  const form = objectOr(format);
  if (form.type === 'json_schema') return schemaOutput(form, pointer, described, leftOut);
  const { type } = leftOut.read(form, pointer, ['type']);
  if (type === 'text') return null;
  if (type === 'json_object') return { name: 'json', description: null, schema: null, isStrict: null, pointer };
  return refuse(pointer, unknownForm);
}

const unknownForm = 'this form of an answer is unknown';

function schemaOutput(format: JsonObject, pointer: string, inside: string | null, leftOut: LeftOut): OutputForm {
  if (inside !== null) {
    const { [inside]: described } = leftOut.read(format, pointer, ['type', inside]);
    if (!isObject(described)) return refuse(pointer, unknownForm);
    return { ...schemaOutput(described, `${pointer}/${inside}`, null, leftOut), pointer };
  }
  const read = leftOut.read(format, pointer, ['type', 'name', 'description', 'schema', 'strict']);
  const { name, description, schema, strict } = read;
  return {
    name: textAt(name, `${pointer}/name`) ?? 'answer',
    description: placedText(description, `${pointer}/description`),
    schema: schemaIn(schema),
    isStrict: leftOut.flagAt(strict, `${pointer}/strict`),
    pointer,
  };
}
