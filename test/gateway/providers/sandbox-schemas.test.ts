import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { sampleSchema } from '#gateway/providers/sandbox/schema-sample.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** A schema that the examples of an SDK send. */
interface SdkSchema {
  readonly name: string;
  readonly source: string;
  readonly schema: JsonObject;
}

const folder = new URL('../../fixtures/schemas/', import.meta.url);
const ofSdks = readdirSync(folder).flatMap((file) => {
  const schemas: ReadonlyArray<SdkSchema> = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  return schemas.map(({ name, schema }): [string, Json] => [`${name} (${file})`, schema]);
});

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

const sixNames = ['a', 'b', 'c', 'd', 'e', 'f'];
const toEachOther = Object.fromEntries(sixNames.map((name) => [name, { $ref: `#/$defs/${name}` }]));

const schemas: Readonly<Record<string, Json>> = {
  'scalars of every type': object({
    text: { type: 'string' },
    maybe: { type: ['string', 'null'] },
    whole: { type: 'integer', minimum: 5, maximum: 6 },
    part: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 },
    half: { type: 'number', multipleOf: 0.5, minimum: 3.2 },
    below: { type: 'integer', maximum: -7 },
    flag: { type: 'boolean' },
    nothing: { type: 'null' },
  }),
  'every format': object(
    Object.fromEntries(
      ['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'uri'].map((format) => [
        format,
        { type: 'string', format },
      ]),
    ),
  ),
  lengths: object({
    long: { type: 'string', minLength: 20 },
    short: { type: 'string', maxLength: 2 },
  }),
  'values that the schema holds': object({
    code: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$', examples: ['ABC-1234'] },
    usual: { type: 'integer', not: { const: 0 }, default: 7 },
    mail: { type: 'string', format: 'email', pattern: '@example\\.com$' },
  }),
  'an optional property that it cannot make': {
    type: 'object',
    properties: { name: { type: 'string' }, code: { type: 'string', pattern: '^[A-Z]$' } },
  },
  'enums, constants and alternatives': object(
    {
      size: { type: 'string', enum: ['small', 'large'] },
      kind: { const: 3 },
      either: { anyOf: [{ type: 'string', maxLength: 2 }, { type: 'number' }] },
      all: { allOf: [{ $ref: '#/$defs/named' }, object({ age: { type: 'integer' } }, { additionalProperties: true })] },
    },
    { $defs: { named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } } },
  ),
  lists: object({
    many: { type: 'array', items: { type: 'string' }, minItems: 3, uniqueItems: true },
    none: { type: 'array', items: { type: 'string' }, maxItems: 0 },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 },
  }),
  'a list of itself': {
    $defs: {
      node: object({ value: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }),
    },
    ...object({ first: { $ref: '#/$defs/node' } }),
  },
  'a tree of itself': object({ name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } }),
  'an object of itself in many members': {
    type: 'object',
    properties: Object.fromEntries(sixNames.map((name) => [name, { $ref: '#' }])),
  },
  'schemas that hold each other': {
    $defs: Object.fromEntries(sixNames.map((name) => [name, { type: 'object', properties: toEachOther }])),
    $ref: '#/$defs/a',
  },
  'null alone, or where nothing else can be made': object({
    none: { type: ['null'] },
    code: { type: ['string', 'null'], pattern: '^[A-Z]$' },
    either: { type: ['string', 'integer'], pattern: '^[A-Z]$' },
  }),
  'a schema without a type': { properties: { a: { items: { minimum: 3 } } }, required: ['a', 'b'] },
  true: true,
};

const many = (count: number, of: Json): ReadonlyArray<Json> => Array.from({ length: count }, () => of);
const properties = (count: number, of: Json): JsonObject =>
  Object.fromEntries(many(count, of).map((each, index) => [`p${index}`, each]));
const inside = (levels: number, core: Json, around: (inner: Json) => Json): Json =>
  Array.from({ length: levels }).reduce<Json>((inner) => around(inner), core);

/** Small schemas that demand long work or a huge value. */
const greedy: Readonly<Record<string, Json>> = {
  'a long list of long texts': { type: 'array', minItems: 9_999, items: { type: 'string', minLength: 9_999 } },
  'lists in lists': inside(8, { type: 'string', minLength: 9_999 }, (items) => ({ type: 'array', minItems: 9, items })),
  'a text of the schema, again and again': { type: 'array', minItems: 1e9, items: { const: 'x'.repeat(1_000) } },
  'many alternatives of a schema with many members': {
    properties: properties(4_000, true),
    anyOf: many(5_000, { not: {} }),
  },
  'many references to a schema with many members': {
    $defs: { large: { properties: properties(5_000, true), not: {} } },
    anyOf: many(4_000, { $ref: '#/$defs/large' }),
  },
  'many parts of a schema with many members': {
    properties: properties(4_000, true),
    allOf: many(4_000, { properties: { p0: true } }),
  },
  'many alternatives that fail': { anyOf: many(40_000, false) },
  'many types that fail': { type: many(40_000, 'no') },
  'many long references': { anyOf: many(500, { $ref: `#${'/a'.repeat(200)}` }) },
  'a length that would add to the budget': object({
    less: { type: 'string', minLength: -1e12 },
    many: { type: 'array', minItems: 1e9, items: { type: 'integer' } },
  }),
  'many references to a schema with many keywords': {
    $defs: { large: { ...properties(4_000, true), allOf: [], const: 1 } },
    type: 'array',
    minItems: 1e9,
    items: { $ref: '#/$defs/large' },
  },
  'many references to a schema with many types': {
    $defs: { large: { type: many(200_000, 'integer') } },
    type: 'array',
    minItems: 1e9,
    items: { $ref: '#/$defs/large' },
  },
  'a very long text': { type: 'string', minLength: 1e9 },
  'many numbers': { type: 'array', minItems: 1e9, items: { type: 'integer' } },
};

/** A schema that is checked here demands at most this processor time. It takes about 30 ms; without a budget, seconds. */
const maxSampleMs = 500;

describe('sampleSchema', () => {
  const ajv2020 = new Ajv2020({ strict: false });
  const ajv7 = new Ajv({ strict: false });
  for (const ajv of [ajv2020, ajv7]) addFormats.default(ajv);

  it('is tried with at least 40 schemas of the SDKs', () => assert.ok(ofSdks.length >= 40, `${ofSdks.length}`));

  for (const [name, schema] of [...Object.entries(schemas), ...ofSdks])
    it(`makes a value that fits: ${name}`, () => {
      const value = sampleSchema(schema);
      const ajv = isObject(schema) && String(schema.$schema).includes('draft-07') ? ajv7 : ajv2020;
      assert.ok(ajv.validate(schema as object, value), `${JSON.stringify(value)}: ${ajv.errorsText()}`);
      assert.deepEqual(sampleSchema(schema), value, 'the same for the same schema');
    });

  for (const [name, schema, message] of [
    ['false', false, /No value fits/],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }, /leads to no schema/],
    ['a reference to nowhere', { $ref: '#/$defs/no' }, /leads to no schema/],
    ['a reference to itself alone', { $ref: '#' }, /refers to itself/],
    ['parts that double without end', { allOf: [{ $ref: '#' }, { $ref: '#' }] }, /itself|more values/],
    ['an object that needs itself', object({ again: { $ref: '#' } }), /refers to itself/],
    ['a keyword that is not known', { not: { type: 'string' } }, /keyword not/],
    ['names that need others', { type: 'object', dependentRequired: { a: ['b'] } }, /keyword dependentRequired/],
    ['names that need a schema', { type: 'object', dependentSchemas: { a: false } }, /keyword dependentSchemas/],
    ['an enum without a value', { type: 'string', enum: [] }, /enum/],
    ['a list of types without one', { type: [] }, /no alternative/],
    ['very many items', { type: 'array', items: { type: 'string' }, minItems: 1_000_000_000 }, /more values/],
    ['a pattern', { type: 'string', pattern: '^a' }, /no text of this pattern.*"examples"/],
    ['a short text of a format', { type: 'string', format: 'uuid', maxLength: 5 }, /no text of this/],
    [
      'too many different items',
      { type: 'array', items: { type: 'boolean' }, minItems: 3, uniqueItems: true },
      /items/,
    ],
    ['a reference that cannot be read', { $ref: '#/%' }, /cannot be read/],
    ['alternatives nested too deeply', inside(5_000, true, (inner) => ({ anyOf: [inner] })), /nested too deeply/],
    ['a number between two steps', { type: 'integer', minimum: 1.2, maximum: 1.8 }, /no number/],
  ] as const)
    it(`reports why it makes no value: ${name}`, () => {
      const before = performance.now();
      assert.throws(() => sampleSchema(schema as Json), message);
      assert.ok(performance.now() - before < 5_000);
    });

  for (const [name, schema] of Object.entries(greedy))
    it(`refuses, before the work, what a small schema demands: ${name}`, () => {
      const before = process.cpuUsage();
      assert.throws(() => sampleSchema(schema), /demands more values than the sandbox makes/);
      const { user, system } = process.cpuUsage(before);
      assert.ok((user + system) / 1_000 < maxSampleMs, `${(user + system) / 1_000} ms`);
    });

  it('counts a value for each choice that holds it', () => {
    const schema = { type: 'string', minLength: 9_000 };
    assert.equal(String(sampleSchema(schema, 20)).length, 9_000);
    assert.throws(() => sampleSchema(schema, 128), /demands more values than the sandbox makes/);
  });
});
