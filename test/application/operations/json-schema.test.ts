import assert from 'node:assert/strict';
import * as t from 'io-ts';
import { describe, it } from 'mocha';
import { jsonSchema } from '#application/operations/json-schema.ts';
import { checked, cuid, flag, json, list, nullable, object, oneOf, text, withDefault } from '#domain/codecs/codecs.ts';

describe('JSON Schema of a codec', () => {
  it('makes one object of required and optional members, open to others', () => {
    const codec = t.intersection([
      t.type({ name: text({ min: 1, max: 200 }), anything: json }),
      t.partial({ type: withDefault(oneOf('simple', 'graph'), 'simple'), enabled: flag }),
    ]);
    assert.deepEqual(jsonSchema(codec), {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 200 },
        anything: { description: 'Any JSON value' },
        type: { type: 'string', enum: ['simple', 'graph'], default: 'simple' },
        enabled: { type: 'boolean' },
      },
      required: ['name', 'anything'],
    });
  });

  it('tells null', () => {
    assert.deepEqual(jsonSchema(nullable(text({ max: 5 }))), { type: ['string', 'null'], maxLength: 5 });
    assert.deepEqual(jsonSchema(nullable(oneOf('a', 'b'))), { type: ['string', 'null'], enum: ['a', 'b', null] });
    assert.deepEqual(jsonSchema(nullable(t.union([t.string, t.number]))), {
      anyOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'null' }],
    });
  });

  it('reads arrays, dictionaries, literals and wrappers', () => {
    assert.deepEqual(jsonSchema(t.readonlyArray(t.exact(t.type({ a: t.literal(1) })))), {
      type: 'array',
      items: { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
    });
    assert.deepEqual(jsonSchema(t.record(t.string, t.boolean)), {
      type: 'object',
      additionalProperties: { type: 'boolean' },
    });
    assert.deepEqual(jsonSchema(t.union([t.literal('a'), t.literal('b')])), { enum: ['a', 'b'] });
    assert.deepEqual(jsonSchema(t.keyof({ a: null, b: null })), { type: 'string', enum: ['a', 'b'] });
    assert.equal(jsonSchema(cuid).pattern, '^[cC][0-9a-z]{6,}$');
  });

  it('tells the bounds of a list, and looks behind what is checked besides', () => {
    const item = object({ key: t.string }, { note: t.string });
    const items = {
      type: 'object',
      properties: { key: { type: 'string' }, note: { type: 'string' } },
      required: ['key'],
    };
    assert.deepEqual(jsonSchema(list(item, { min: 1, uniqueBy: 'key' })), { type: 'array', items, minItems: 1 });
    assert.deepEqual(jsonSchema(list(checked(item, () => []))), { type: 'array', items });
  });

  it('refuses what hides what it checks', () => {
    const custom = new t.Type<string, string, unknown>('Custom', t.string.is, t.string.validate, t.identity);
    const positive = t.refinement(t.number, (value) => value > 0, 'Positive');
    assert.throws(() => jsonSchema(t.type({ a: custom })), /No JSON Schema for codec "Custom"/);
    assert.throws(() => jsonSchema(positive), /No JSON Schema for codec "Positive"/);
  });

  it('lets named codecs be put elsewhere', () => {
    const seen: string[] = [];
    const codec = t.type({ list: t.array(t.type({ a: t.string }, 'Part')) }, 'Whole');
    const schema = jsonSchema(codec, (name) => {
      seen.push(name);
      return { $ref: name };
    });
    assert.deepEqual(schema, { $ref: 'Whole' });
    assert.deepEqual(seen, ['Part', 'Whole']);
  });
});
