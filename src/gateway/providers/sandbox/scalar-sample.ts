import { codePoints } from '#shared/codecs/text.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { samplePattern } from './pattern-sample.ts';
import { type SampleBudget, UnfitSchemaError } from './sample-budget.ts';

const maxLength = 10_000;
/** How many numbers are tried, upwards and downwards. */
const steps = 100;

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
 * Makes a string that a schema describes.
 * @throws UnfitSchemaError
 */
export function sampleString(schema: JsonObject, variant: number, budget: SampleBudget): string {
  const { minLength = 0, maxLength: most = maxLength, pattern, format } = schema;
  if (Number(minLength) > maxLength || Number(minLength) > Number(most))
    throw new UnfitSchemaError(`The sandbox makes no text of ${minLength} characters.`);
  if (typeof pattern === 'string') return ofLength(samplePattern(pattern, budget), Number(minLength), Number(most));
  const named = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (named !== undefined) return ofLength(named, Number(minLength), Number(most));
  budget.spendOnResult(Number(minLength));
  const text = `${variant === 0 ? '' : `${variant} `}sandbox`.padEnd(Number(minLength), 'x');
  return text.slice(0, Number(most));
}

function ofLength(text: string, least: number, most: number): string {
  const length = codePoints(text);
  if (length < least || length > most)
    throw new UnfitSchemaError('The sandbox makes no text of that pattern and length.');
  return text;
}

/**
 * Makes a number that a schema describes: the smallest non-negative one, if allowed.
 * @throws UnfitSchemaError
 */
export function sampleNumber(schema: JsonObject, isInteger: boolean, variant: number, budget: SampleBudget): number {
  budget.spend(2 * steps);
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const least = Math.max(
    numberOr(minimum, Number.NEGATIVE_INFINITY),
    numberOr(exclusiveMinimum, Number.NEGATIVE_INFINITY),
  );
  const most = Math.min(
    numberOr(maximum, Number.POSITIVE_INFINITY),
    numberOr(exclusiveMaximum, Number.POSITIVE_INFINITY),
  );
  const fits = (value: number) =>
    value >= least &&
    value <= most &&
    value !== exclusiveMinimum &&
    value !== exclusiveMaximum &&
    (!isInteger || Number.isInteger(value));
  const step = numberOr(multipleOf, 1);
  const lowest =
    least === Number.NEGATIVE_INFINITY ? Math.min(0, Math.floor(most / step) * step) : Math.ceil(least / step) * step;
  const start = least <= 0 && most >= 0 ? 0 : lowest;
  const found = candidatesFrom(start, step, typeof multipleOf === 'number' ? null : (least + most) / 2).filter(fits);
  const value = found[variant % Math.max(1, found.length)];
  if (value === undefined) throw new UnfitSchemaError('The sandbox makes no number within these bounds.');
  return value;
}

/** @param middle a further candidate, if the number need not be a multiple of a step */
function candidatesFrom(start: number, step: number, middle: number | null): ReadonlyArray<number> {
  const above = Array.from({ length: steps }, (_, index) => start + index * step);
  const below = Array.from({ length: steps }, (_, index) => start - (index + 1) * step);
  return [...above, ...(middle !== null && Number.isFinite(middle) ? [middle] : []), ...below];
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
