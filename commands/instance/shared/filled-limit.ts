import { type FieldValues, valueOfField } from '#domain/instance/field-values.ts';
import type { InputError } from '#domain/shared/failure.ts';
import { filledSize } from '#domain/template/filled-size.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';

/**
 * A few placeholders and a long value can make a schema a thousand times as large.
 * @param values with defaults and earlier ones
 * @param pointer of the values in the request
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
  const message = `with it the filled flows have ${bytes} bytes; at most ${maxFilledBytes} are allowed`;
  return [{ pointer: largestField === null ? '' : `${pointer}/${largestField}`, message }];
}
