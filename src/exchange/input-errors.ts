import type * as t from 'io-ts';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import { structureOf } from '#shared/codecs/checked.ts';
import { defaultOf } from '#shared/codecs/default.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

export const maxInputErrors = 100;

/**
 * Maximum number of faults that are examined before merging: many bad items must not cost more than reading them did.
 */
const maxErrorsRead = 2_000;

export function invalidInput(errors: ReadonlyArray<InputError>): Failure {
  return failure('invalid-input', describeErrors(errors), { errors });
}

/** Maximum number of faults in the text of a failure; others are counted. */
const maxNamedErrors = 3;

function describeErrors(errors: ReadonlyArray<InputError>): string {
  if (errors.length === 0) return 'The input is not valid.';
  const named = errors.slice(0, maxNamedErrors).map(({ pointer, parameter, message }) => {
    const place = parameter === undefined ? pointer || 'The input' : `The query parameter ${parameter}`;
    return `${place} ${message}`;
  });
  const others = errors.length > maxNamedErrors ? `; and ${errors.length - maxNamedErrors} more` : '';
  return `${named.join('; ')}${others}.`;
}

/** Changes the refusal of an input from a query string: it names parameters. */
export function ofQueryParameters(refusal: Failure): Failure {
  if (refusal.code !== 'invalid-input' || refusal.errors === undefined) return refusal;
  const errors = refusal.errors.map((error) => ({ ...error, parameter: error.pointer.slice(1) }));
  return { ...refusal, detail: describeErrors(errors), errors };
}

/**
 * Describes faults for a person: each fault once, with a pointer (RFC 6901) into the input as it was sent.
 * @returns at most 100 faults, in the order found
 */
export function inputErrors(errors: t.Errors): ReadonlyArray<InputError> {
  const found = explain(errors.slice(0, maxErrorsRead), 0);
  const unique = new Map(found.map((error) => [`${error.pointer} ${error.message}`, error]));
  return [...unique.values()].slice(0, maxInputErrors);
}

/** Reads the contexts of errors from an index on; the caller has explained the part before. */
function explain(errors: ReadonlyArray<t.ValidationError>, from: number): ReadonlyArray<InputError> {
  const groups = new Map<string, { readonly at: number; readonly errors: t.ValidationError[] }>();
  errors.forEach((error, index) => {
    const at = unionAfter(error.context, from);
    const key = at === null ? `error ${index}` : `union ${at} ${pointerOf(error.context, at)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { at: at ?? -1, errors: [error] });
    else group.errors.push(error);
  });
  return [...groups.values()].flatMap((group) =>
    group.at === -1 ? group.errors.map(explainOne) : explainUnion(group.errors, group.at),
  );
}

/** The first union, from an index on, whose alternatives were tried. */
function unionAfter(context: t.Context, from: number): number | null {
  for (let index = from; index < context.length - 1; index += 1) {
    if (tagAt(context, index) === 'UnionType') return index;
  }
  return null;
}

function explainUnion(errors: ReadonlyArray<t.ValidationError>, at: number): ReadonlyArray<InputError> {
  const [first] = errors;
  if (first === undefined) return [];
  const pointer = pointerOf(first.context, at);
  if (first.context[at]?.actual === undefined) return [{ pointer, message: 'is required' }];

  const alternatives = [...Map.groupBy(errors, (error) => error.context[at + 1]?.key).values()].map((ofOne) =>
    explain(ofOne, at + 1),
  );
  const inside = alternatives.filter((faults) => faults.every((fault) => fault.pointer !== pointer));
  if (inside.length > 0) return inside.reduce((best, faults) => (faults.length < best.length ? faults : best));
  return [{ pointer, message: eitherOf(alternatives.flat().filter((fault) => fault.pointer === pointer)) }];
}

/** "must be a string" and "must be null" give "must be a string or null". */
function eitherOf(faults: ReadonlyArray<InputError>): string {
  const messages = [...new Set(faults.map((fault) => fault.message))];
  // The value had this alternative's type and only broke a bound, so the other alternatives do not matter.
  const specific = messages.find((message) => !message.startsWith('must be '));
  return specific ?? `must be ${messages.map((message) => message.slice('must be '.length)).join(' or ')}`;
}

function explainOne(error: t.ValidationError): InputError {
  return { pointer: pointerOf(error.context, error.context.length - 1), message: messageOf(error) };
}

/** The pointer without the indexes that intersections and unions add for their parts. */
function pointerOf(context: t.Context, end: number): string {
  const keys: string[] = [];
  for (let index = 1; index <= end; index += 1) {
    const parent = tagAt(context, index - 1);
    if (parent !== 'IntersectionType' && parent !== 'UnionType') keys.push(context[index]?.key ?? '');
  }
  return pointerTo(keys);
}

function tagAt(context: t.Context, index: number): string | undefined {
  const type = context[index]?.type;
  return type === undefined ? undefined : tagOf(type as t.Mixed);
}

/** The tag of a codec, also inside the wrappers that add nothing to a context. */
function tagOf(codec: t.Mixed): string | undefined {
  const wrapped = defaultOf(codec)?.codec ?? structureOf(codec);
  if (wrapped !== undefined) return tagOf(wrapped);
  const tagged = codec as { readonly _tag?: string; readonly type?: t.Mixed };
  const wraps = tagged._tag === 'ExactType' || tagged._tag === 'ReadonlyType' || tagged._tag === 'RefinementType';
  return wraps && tagged.type !== undefined ? tagOf(tagged.type) : tagged._tag;
}

function messageOf(error: t.ValidationError): string {
  if (error.value === undefined) return 'is required';
  if (error.message !== undefined) return error.message;
  const type = error.context.at(-1)?.type as t.Mixed | undefined;
  return type === undefined ? 'is not valid' : expectation(type);
}

function expectation(codec: t.Mixed): string {
  switch (tagOf(codec)) {
    case 'StringType':
      return 'must be a string';
    case 'NumberType':
      return 'must be a number';
    case 'BooleanType':
      return 'must be true or false';
    case 'NullType':
      return 'must be null';
    case 'LiteralType':
      return `must be ${JSON.stringify((codec as t.LiteralType<string>).value)}`;
    case 'KeyofType':
      return `must be one of ${Object.keys((codec as t.KeyofType<Record<string, unknown>>).keys)
        .map((key) => JSON.stringify(key))
        .join(', ')}`;
    case 'ArrayType':
    case 'ReadonlyArrayType':
    case 'AnyArrayType':
      return 'must be an array';
    case 'InterfaceType':
    case 'PartialType':
    case 'IntersectionType':
    case 'DictionaryType':
    case 'AnyDictionaryType':
      return 'must be an object';
    default:
      return 'is not valid';
  }
}
