import * as t from 'io-ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/**
 * What a codec checks, in JSON Schema's words (2020-12). A codec that io-ts cannot describe by its tag is annotated
 * here once, where it is made, so that OpenAPI and MCP publish exactly what is enforced.
 */
const schemas = new WeakMap<t.Mixed, JsonObject>();

/** Tells how a codec reads in JSON Schema. Gives the codec back. */
export function withJsonSchema<C extends t.Mixed>(codec: C, schema: JsonObject): C {
  schemas.set(codec, schema);
  return codec;
}

/** The JSON Schema that a codec was annotated with, if any. */
export function schemaOf(codec: t.Mixed): JsonObject | undefined {
  return schemas.get(codec);
}

/** What codecs check besides what io-ts knows of their structure, in JSON Schema's words. */
const furtherWords = new WeakMap<t.Mixed, JsonObject>();

/** The JSON Schema words that stand beside a codec's structure: `minItems`, say. */
export function schemaKeywordsOf(codec: t.Mixed): JsonObject | undefined {
  return furtherWords.get(codec);
}

/** The length of a text in Unicode code points, which is what "characters" means in every bound. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count -= 1;
        index += 1;
      }
    }
  }
  return count;
}

function stringThat(name: string, check: (value: string) => string | null, schema: JsonObject): t.Type<string> {
  const codec = new t.Type<string, string, unknown>(
    name,
    t.string.is,
    (value, context) => {
      if (typeof value !== 'string') return t.failure(value, context, 'must be a string');
      const fault = check(value);
      return fault === null ? t.success(value) : t.failure(value, context, fault);
    },
    t.identity,
  );
  return withJsonSchema(codec, { type: 'string', ...schema });
}

/** A string of `min` to `max` characters (code points). Without bounds, any string. */
export function text(bounds: { min?: number; max?: number } = {}): t.Type<string> {
  const { min = 0, max = Number.POSITIVE_INFINITY } = bounds;
  const check = (value: string) => {
    const length = value.length <= max && value.length >= min * 2 ? value.length : codePoints(value);
    if (length < min) return `must have at least ${min} character${min === 1 ? '' : 's'}`;
    if (length > max) return `must have at most ${max} characters, has ${length}`;
    return null;
  };
  return stringThat(`text(${min}..${max})`, check, {
    ...(min > 0 ? { minLength: min } : {}),
    ...(max < Number.POSITIVE_INFINITY ? { maxLength: max } : {}),
  });
}

/** A string of a form. */
export function textLike(pattern: RegExp): t.Type<string> {
  const check = (value: string) => (pattern.test(value) ? null : `must match ${pattern.source}`);
  return stringThat(`text like ${pattern.source}`, check, { pattern: pattern.source });
}

const longestEmail = 254;
const emailPattern =
  /^(?=.{1,64}@)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * An e-mail address as the internet delivers it: the mailbox of RFC 5321 without quoted names and numbered hosts, at a
 * host of two labels at least. Whether anybody reads it, only a letter can tell.
 */
export const email = stringThat(
  'email',
  (value) => {
    if (value.length > longestEmail) return `must have at most ${longestEmail} characters, has ${codePoints(value)}`;
    return emailPattern.test(value) ? null : 'must be an e-mail address, like name@example.com';
  },
  { format: 'email', maxLength: longestEmail },
);

const cuidPattern = /^[cC][0-9a-z]{6,}$/;

/** Whether a text has the form of an id. */
export function isCuid(value: string): boolean {
  return cuidPattern.test(value);
}

/** An id, in the contract's form. */
export const cuid = stringThat(
  'cuid',
  (value) => (isCuid(value) ? null : `must be an id that matches ${cuidPattern.source}`),
  { pattern: cuidPattern.source, examples: ['cm3v8k2p90000qzrm4d1x7w5b'] },
);

/** RFC 3339 in UTC with milliseconds, as every timestamp is given out. */
export const timestamp = stringThat(
  'timestamp',
  (value) => (Number.isNaN(Date.parse(value)) ? 'must be an RFC 3339 time' : null),
  { format: 'date-time', examples: ['2026-01-05T09:30:00.000Z'] },
);

const instantPattern =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** A time that a client names, in RFC 3339 with any offset. It is decoded to UTC with milliseconds. */
export const instant = withJsonSchema(
  new t.Type<string, string, unknown>(
    'instant',
    t.string.is,
    (value, context) => {
      const time = typeof value === 'string' ? utcOf(value) : null;
      return time === null
        ? t.failure(value, context, 'must be an RFC 3339 time, like 2026-01-05T09:30:00Z')
        : t.success(time);
    },
    t.identity,
  ),
  { type: 'string', format: 'date-time', examples: ['2026-01-05T09:30:00Z'] },
);

function utcOf(value: string): string | null {
  const day = instantPattern.exec(value)?.[1];
  // A day that its month lacks would be read as one of the next month.
  if (day === undefined || dayOf(`${day}T00:00:00Z`) !== day) return null;
  const time = new Date(value.toUpperCase()).toISOString();
  // A year of more than four digits is no RFC 3339, and texts of times are compared.
  return /^\d/.test(time) ? time : null;
}

function dayOf(value: string): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 10);
}

/** One of some strings. */
export function oneOf<Value extends string>(...values: readonly [Value, ...Value[]]): t.Type<Value, Value, unknown> {
  const is = (value: unknown): value is Value => values.includes(value as Value);
  const codec = new t.Type<Value, Value, unknown>(
    values.join(' | '),
    is,
    (value, context) =>
      is(value)
        ? t.success(value)
        : t.failure(value, context, `must be one of ${values.map((v) => `"${v}"`).join(', ')}`),
    t.identity,
  );
  return withJsonSchema(codec, { type: 'string', enum: [...values] });
}

/** A value or null. */
export function nullable<C extends t.Mixed>(codec: C): t.UnionC<[C, t.NullC]> {
  return t.union([codec, t.null]);
}

/** In a `t.partial`: takes this value when the member is absent. */
export function withDefault<A extends Json, O>(codec: t.Type<A, O, unknown>, value: A): t.Type<A, O, unknown> {
  const defaulting = new t.Type<A, O, unknown>(
    codec.name,
    codec.is,
    (input, context) => (input === undefined ? t.success(value) : codec.validate(input, context)),
    codec.encode,
  );
  defaulted.set(defaulting, { codec, value });
  return defaulting;
}

const defaulted = new WeakMap<t.Mixed, { codec: t.Mixed; value: Json }>();

/** The codec and value behind a `withDefault`, for its JSON Schema. */
export function defaultOf(codec: t.Mixed): { readonly codec: t.Mixed; readonly value: Json } | undefined {
  return defaulted.get(codec);
}

/**
 * Any JSON value, required to be there. What came from `JSON.parse` is JSON already: walking it would cost more than
 * parsing it did.
 */
export const json = withJsonSchema(
  new t.Type<Json, Json, unknown>(
    'json',
    (value): value is Json => value !== undefined,
    (value, context) => (value === undefined ? t.failure(value, context, 'is required') : t.success(value as Json)),
    t.identity,
  ),
  { description: 'Any JSON value' },
);

/** Any JSON object. */
export const jsonObject = withJsonSchema(
  new t.Type<JsonObject, JsonObject, unknown>(
    'json object',
    (value): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value),
    (value, context) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? t.success(value as JsonObject)
        : t.failure(value, context, 'must be an object'),
    t.identity,
  ),
  { type: 'object' },
);

type ObjectOf<Required extends t.Props, Optional extends t.Props> = t.TypeOf<t.TypeC<Required>> &
  t.TypeOf<t.PartialC<Optional>>;

/**
 * An object of these members and no others: unknown ones are left out, so that what is stored is what was checked.
 * Unlike io-ts's own, which copy members named `__proto__` by assigning them, it takes nothing over but by its name.
 */
export class ObjectType<Required extends t.Props, Optional extends t.Props> extends t.Type<
  ObjectOf<Required, Optional>,
  unknown,
  unknown
> {
  readonly _tag = 'ObjectType';
  /** The members that must be there, and those that may be, as JSON Schema tells them. */
  readonly parts: readonly [t.TypeC<Required>, t.PartialC<Optional>];

  constructor(required: Required, optional: Optional) {
    const parts = [t.type(required), t.partial(optional)] as const;
    const whole = t.intersection([parts[0], parts[1]]);
    super(whole.name, whole.is, (value, context) => validateMembers(required, optional, value, context), t.identity);
    this.parts = parts;
  }
}

/** Declares an object: see `ObjectType`. */
export function object<Required extends t.Props, Optional extends t.Props>(
  required: Required,
  optional: Optional,
): ObjectType<Required, Optional> {
  return new ObjectType(required, optional);
}

function validateMembers<Required extends t.Props, Optional extends t.Props>(
  required: Required,
  optional: Optional,
  value: unknown,
  context: t.Context,
): t.Validation<ObjectOf<Required, Optional>> {
  if (!jsonObject.is(value)) return t.failure(value, context, 'must be an object');
  const members: Record<string, unknown> = {};
  const errors: t.Errors = [];
  const take = (name: string, codec: t.Mixed, member: unknown) => {
    const result = codec.validate(member, t.appendContext(context, name, codec, member));
    if (result._tag === 'Left') errors.push(...result.left);
    else members[name] = result.right;
  };
  const given = (name: string) => (Object.hasOwn(value, name) ? value[name] : undefined);
  for (const [name, codec] of Object.entries<t.Mixed>(required)) take(name, codec, given(name));
  for (const [name, codec] of Object.entries<t.Mixed>(optional)) {
    const member = given(name);
    if (member !== undefined) take(name, codec, member);
  }
  return errors.length > 0 ? t.failures(errors) : t.success(members as ObjectOf<Required, Optional>);
}

/** Faults told of one list at most: what is beyond them is not looked at, so that many bad items cost little. */
const maxListFaults = 200;

/**
 * A list of items.
 * @param min items at least
 * @param uniqueBy a member of the items that no two of them may share
 */
export function list<A, O>(
  item: t.Type<A, O, unknown>,
  { min = 0, uniqueBy }: { readonly min?: number; readonly uniqueBy?: keyof A & string } = {},
): t.Type<ReadonlyArray<A>, ReadonlyArray<O>, unknown> {
  const structure = t.readonlyArray(item);
  const codec = Object.assign(
    new t.Type<ReadonlyArray<A>, ReadonlyArray<O>, unknown>(
      structure.name,
      structure.is,
      (value, context) => {
        if (!Array.isArray(value)) return t.failure(value, context, 'must be an array');
        if (value.length < min)
          return t.failure(value, context, `must have at least ${min} item${min === 1 ? '' : 's'}`);
        return validateItems(item, uniqueBy, value, context);
      },
      structure.encode,
    ),
    // Told as io-ts tells its own lists: JSON Schema and pointers follow from it.
    { _tag: structure._tag, type: item },
  );
  if (min > 0) furtherWords.set(codec, { minItems: min });
  return codec;
}

function validateItems<A>(
  item: t.Type<A, unknown, unknown>,
  uniqueBy: (keyof A & string) | undefined,
  values: ReadonlyArray<unknown>,
  context: t.Context,
): t.Validation<ReadonlyArray<A>> {
  const items: A[] = [];
  const errors: t.Errors = [];
  const firsts = new Map<unknown, number>();
  for (let index = 0; index < values.length && errors.length < maxListFaults; index += 1) {
    const at = t.appendContext(context, String(index), item, values[index]);
    const result = item.validate(values[index], at);
    if (result._tag === 'Left') {
      errors.push(...result.left);
      continue;
    }
    items.push(result.right);
    if (uniqueBy === undefined) continue;
    const shared = result.right[uniqueBy];
    const first = firsts.get(shared);
    if (first === undefined) firsts.set(shared, index);
    else errors.push(faultAt(at, [uniqueBy], shared, `must be unique: item ${first} has it too`));
  }
  return errors.length > 0 ? t.failures(errors) : t.success(items);
}

/** A fault of a sound value: the members that lead to it from there, what stands there, and what is wrong. */
export interface NestedIssue {
  readonly path: ReadonlyArray<string>;
  readonly value: unknown;
  readonly message: string;
}

/** A codec of values that must, besides, be sound as a whole. @param check gives their faults, none when sound */
export function checked<A, O>(
  codec: t.Type<A, O, unknown>,
  check: (value: A) => ReadonlyArray<NestedIssue>,
): t.Type<A, O, unknown> {
  const checking = new t.Type<A, O, unknown>(
    codec.name,
    codec.is,
    (input, context) => {
      const result = codec.validate(input, context);
      if (result._tag === 'Left') return result;
      const faults = check(result.right);
      if (faults.length === 0) return result;
      return t.failures(faults.map(({ path, value, message }) => faultAt(context, path, value, message)));
    },
    codec.encode,
  );
  structures.set(checking, codec);
  return checking;
}

const structures = new WeakMap<t.Mixed, t.Mixed>();

/** The codec behind a `checked`: it has the structure. */
export function structureOf(codec: t.Mixed): t.Mixed | undefined {
  return structures.get(codec);
}

/** A fault below the place that a context tells. Its entries have no structure, so that each key counts. */
function faultAt(context: t.Context, path: ReadonlyArray<string>, value: unknown, message: string): t.ValidationError {
  const here = context.at(-1);
  const above = here === undefined ? [] : [...context.slice(0, -1), { ...here, type: t.unknown }];
  return { value, message, context: [...above, ...path.map((key) => ({ key, type: t.unknown }))] };
}

/** A version number, counting from 1. */
export const versionNumber = withJsonSchema(
  new t.Type<number, number, unknown>(
    'version number',
    (value): value is number => Number.isSafeInteger(value),
    (value, context) =>
      Number.isSafeInteger(value) ? t.success(value as number) : t.failure(value, context, 'must be an integer'),
    t.identity,
  ),
  { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
);

/** A whole number in a range, given as a number or, in a query string, as its digits. */
export function wholeNumber(minimum: number, maximum: number): t.Type<number, number, unknown> {
  return wholeNumberRead(minimum, maximum, (value) =>
    typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
  );
}

/** A whole number in a range, as a member of a JSON body: a number and nothing that reads like one. */
export function integer(minimum: number, maximum: number): t.Type<number, number, unknown> {
  return wholeNumberRead(minimum, maximum, t.identity);
}

function wholeNumberRead(
  minimum: number,
  maximum: number,
  read: (value: unknown) => unknown,
): t.Type<number, number, unknown> {
  const inRange = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  const codec = new t.Type<number, number, unknown>(
    `whole number ${minimum}..${maximum}`,
    inRange,
    (value, context) => {
      const number = read(value);
      return inRange(number)
        ? t.success(number)
        : t.failure(value, context, `must be a whole number from ${minimum} to ${maximum}`);
    },
    t.identity,
  );
  return withJsonSchema(codec, { type: 'integer', minimum, maximum });
}

/** True or false, given as such or, in a query string, as the words. */
export const flag = withJsonSchema(
  new t.Type<boolean, boolean, unknown>(
    'flag',
    t.boolean.is,
    (value, context) => {
      if (value === true || value === 'true') return t.success(true);
      if (value === false || value === 'false') return t.success(false);
      return t.failure(value, context, 'must be true or false');
    },
    t.identity,
  ),
  { type: 'boolean' },
);
