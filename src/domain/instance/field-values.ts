import * as t from 'io-ts';
import type { InputError } from '#domain/shared/failure.ts';
import type { FieldsSchema } from '#domain/template/payload.ts';
import { fieldValueFault } from '#domain/template/placeholders.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { isObject } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

/** Values by key. Read them with `valueOfField`, because a key may have the name of an inherited member. */
export type FieldValues = Readonly<Record<string, string>>;

const isFieldValues = (value: unknown): value is FieldValues =>
  isObject(value) && Object.values(value).every(t.string.is);

/** An object of strings, unchanged: no member is assigned to another object, because a name may be `__proto__`. */
export const FieldValues = withJsonSchema(
  new t.Type<FieldValues, FieldValues, unknown>(
    'field values',
    isFieldValues,
    (value, context) => {
      if (isFieldValues(value)) return t.success(value);
      if (!isObject(value)) return t.failure(value, context, 'must be an object of strings');
      const wrong = Object.entries(value).filter(([, each]) => typeof each !== 'string');
      return t.failures(
        wrong.map(([key, each]) => ({
          value: each,
          message: 'must be a string',
          context: [...context, { key, type: t.string }],
        })),
      );
    },
    t.identity,
  ),
  { type: 'object', additionalProperties: { type: 'string' } },
);

export function valueOfField(values: FieldValues, key: string): string | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** The effective values, or the faults of the given ones. */
export type FilledFieldValues = { readonly values: FieldValues } | { readonly faults: ReadonlyArray<InputError> };

/**
 * The effective values: those of the request, else earlier values that are still valid, else the defaults.
 * @param given in the request, at `pointer`
 * @param before of the instance; values of removed fields or of another type are ignored
 */
export function fillFields(
  fields: FieldsSchema,
  given: FieldValues,
  before: FieldValues,
  pointer: '/fieldValues' | '/newFieldValues',
): FilledFieldValues {
  const known = new Set(fields.map(({ key }) => key));
  const faults: InputError[] = [];
  const fault = (key: string, message: string) => faults.push({ pointer: pointer + pointerTo([key]), message });
  for (const key of Object.keys(given)) if (!known.has(key)) fault(key, 'is not a field of this template version');
  const values: Array<readonly [string, string]> = [];
  for (const field of fields) {
    const { key } = field;
    const asked = valueOfField(given, key);
    const wrong = asked === undefined ? null : fieldValueFault(field.type, asked);
    if (wrong !== null) fault(key, wrong);
    const value = asked ?? keptOrDefault(field, before);
    if (value !== undefined) values.push([key, value]);
    else if (field.required) fault(key, 'is required');
  }
  return faults.length > 0 ? { faults } : { values: Object.fromEntries(values) };
}

/** Required fields without a valid earlier value and without a default. */
export function missingFields(fields: FieldsSchema, before: FieldValues): ReadonlyArray<string> {
  return fields.filter((field) => field.required && keptOrDefault(field, before) === undefined).map(({ key }) => key);
}

function keptOrDefault({ key, type, defaultValue }: FieldsSchema[number], before: FieldValues): string | undefined {
  const old = valueOfField(before, key);
  return old !== undefined && fieldValueFault(type, old) === null ? old : defaultValue;
}
