import type { JsonObject } from '#shared/json/json.ts';

/** Texts of the formats that JSON Schema names. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T12:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  duration: 'PT1M',
  email: 'sandbox@example.com',
  'idn-email': 'sandbox@example.com',
  hostname: 'sandbox.example.com',
  'idn-hostname': 'sandbox.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/sandbox',
  'uri-reference': '/sandbox',
  iri: 'https://example.com/sandbox',
  'iri-reference': '/sandbox',
  uuid: '00000000-0000-4000-8000-000000000000',
  'json-pointer': '/sandbox',
  regex: 'sandbox',
};

/**
 * @param variant differs between the items of a list that must be unique
 * @returns undefined for a pattern, and for a format whose text has another length
 */
export function sampleString(schema: JsonObject, variant: number): string | undefined {
  const least = numberOr(schema.minLength, 0);
  const most = numberOr(schema.maxLength, Number.POSITIVE_INFINITY);
  const known = textOfFormat(schema);
  // SDKs send a pattern with a format, which the text of the format fits. No text is made for a pattern alone.
  if (known === undefined && schema.pattern !== undefined) return undefined;
  const text = known ?? `${variant === 0 ? '' : `${variant} `}sandbox`.padEnd(least, 'x').slice(0, most);
  return text.length >= least && text.length <= most ? text : undefined;
}

function textOfFormat({ format }: JsonObject): string | undefined {
  return typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
}

/** A number close to zero. @returns undefined if the bounds leave only numbers that it does not try */
export function sampleNumber(schema: JsonObject, isInteger: boolean, variant: number): number | undefined {
  const { exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const least = Math.max(numberOr(schema.minimum, -Infinity), numberOr(exclusiveMinimum, -Infinity));
  const most = Math.min(numberOr(schema.maximum, Infinity), numberOr(exclusiveMaximum, Infinity));
  const isInside = (value: number) =>
    value >= least && value <= most && value !== exclusiveMinimum && value !== exclusiveMaximum;
  const fits = (value: number) =>
    isInside(value) &&
    (!isInteger || Number.isInteger(value)) &&
    (typeof multipleOf !== 'number' || Number.isInteger(value / multipleOf));
  const step = numberOr(multipleOf, 1);
  const first = most > 0 ? Math.ceil(Math.max(least, 0) / step) * step : Math.floor(most / step) * step;
  const direction = most > 0 ? step : -step;
  return [first + variant * direction, first + (variant + 1) * direction, (least + most) / 2].find(fits);
}

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
