/** The types of a template's fields. Values are texts for every type. */
export const fieldTypes = ['string', 'number', 'boolean'] as const;

/** The type of a field of a template. */
export type FieldType = (typeof fieldTypes)[number];

/** RFC 8259, section 6. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Why a text is not a value of a type; null if it is. */
export function fieldValueFault(type: FieldType, value: string): string | null {
  switch (type) {
    case 'string':
      return null;
    case 'number':
      return jsonNumber.test(value) && Number.isFinite(Number(value)) ? null : 'must be a number as JSON writes it';
    case 'boolean':
      return value === 'true' || value === 'false' ? null : 'must be "true" or "false"';
  }
}
