import { type FieldValues, valueOfField } from '#domain/instance/field-values.ts';
import type { InputError } from '#domain/shared/failure.ts';
import { filledSize } from '#domain/template/filled-size.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';

/**
 * What is wrong with an operation that would fill the schemas of a template version with more than is taken: few
 * placeholders and a long value can make a thousand times as much.
 * @param values all that are in force, defaults and those it had included
 * @param pointer to the values in the request
 */
export function filledFaults(
  { payload }: Pick<TemplateVersionRecord, 'payload'>,
  values: FieldValues,
  pointer: '/fieldValues' | '/newFieldValues',
  maxFilledBytes: number,
): ReadonlyArray<InputError> {
  const schemas = payload.flows.map(({ flowSchema }) => flowSchema);
  const { bytes, largestField } = filledSize(schemas, (field) => valueOfField(values, field));
  if (bytes <= maxFilledBytes) return [];
  const message = `with it the flows have ${bytes} bytes when they are filled; at most ${maxFilledBytes} are taken`;
  return [{ pointer: largestField === null ? '' : `${pointer}/${largestField}`, message }];
}
