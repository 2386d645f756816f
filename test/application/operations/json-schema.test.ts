import assert from 'node:assert/strict';
import * as t from 'io-ts';
import { describe, it } from 'mocha';
import { jsonSchema } from '#application/operations/json-schema.ts';
import { cuid } from '#domain/codecs/id.ts';
import { checked } from '#shared/codecs/checked.ts';
import { flag, nullable, oneOf } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';
import { json } from '#shared/codecs/json-value.ts';
import { list } from '#shared/codecs/list.ts';
import { object } from '#shared/codecs/object.ts';
import { text } from '#shared/codecs/text.ts';

describe('jsonSchema', () => {
  it('makes one object of required and optional members that allows other members', () => {
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

  it('describes nullable codecs', () => {
    assert.deepEqual(jsonSchema(nullable(text({ max: 5 }))), { type: ['string', 'null'], maxLength: 5 });
    assert.deepEqual(jsonSchema(nullable(oneOf('a', 'b'))), { type: ['string', 'null'], enum: ['a', 'b', null] });
    assert.deepEqual(jsonSchema(nullable(t.union([t.string, t.number]))), {
      anyOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'null' }],
    });
  });

  it('describes arrays, dictionaries, literals and wrappers', () => {
    assert.deepEqual(jsonSchema(t.readonlyArray(t.exact(t.type({ a: t.literal(1) })))), {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'number', const: 1 } }, required: ['a'] },
    });
    assert.deepEqual(jsonSchema(t.record(t.string, t.boolean)), {
      type: 'object',
      additionalProperties: { type: 'boolean' },
    });
    assert.deepEqual(jsonSchema(t.union([t.literal('a'), t.literal('b')])), { type: 'string', enum: ['a', 'b'] });
    assert.deepEqual(jsonSchema(t.keyof({ a: null, b: null })), { type: 'string', enum: ['a', 'b'] });
    assert.equal(jsonSchema(cuid).pattern, '^[cC][0-9a-z]{6,}$');
  });

  it('describes the bounds of a list, and the codec inside a checked one', () => {
    const item = object({ key: t.string }, { note: t.string });
    const items = {
      type: 'object',
      properties: { key: { type: 'string' }, note: { type: 'string' } },
      required: ['key'],
    };
    assert.deepEqual(jsonSchema(list(item, { min: 1, uniqueBy: 'key' })), { type: 'array', items, minItems: 1 });
    assert.deepEqual(jsonSchema(list(checked(item, () => []))), { type: 'array', items });
  });

  it('throws for a codec that hides what it checks', () => {
    const custom = new t.Type<string, string, unknown>('Custom', t.string.is, t.string.validate, t.identity);
    const positive = t.refinement(t.number, (value) => value > 0, 'Positive');
    assert.throws(() => jsonSchema(t.type({ a: custom })), /No JSON Schema for codec "Custom"/);
    assert.throws(() => jsonSchema(positive), /No JSON Schema for codec "Positive"/);
  });

  it('lets the caller replace named codecs by references', () => {
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
