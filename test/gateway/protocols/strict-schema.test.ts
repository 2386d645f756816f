import assert from 'node:assert/strict';
import { isStrictSchema } from '#gateway/protocols/strict-schema.ts';

const closed = (properties: object, more: object = {}) => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  ...more,
});
const text = { type: 'string', description: 'A day' };

describe('a strict schema', () => {
  for (const [what, schema] of Object.entries({
    'requires each property': closed({ day: text }),
    'has no properties': closed({}),
    'has values that may be null': closed({ day: { type: ['string', 'null'], enum: ['mon', null] } }),
    'has lists and objects inside': closed({ days: { type: 'array', items: closed({ day: text }) } }),
    'refers to a definition': closed({ day: { $ref: '#/$defs/day' } }, { $defs: { day: { anyOf: [text] } } }),
  }))
    it(`given one that ${what} then OpenAI takes it`, () => {
      assert.equal(isStrictSchema(JSON.stringify(schema)), true);
    });

  const open = { type: 'object', properties: { day: text }, required: ['day'] };
  for (const [what, schema] of Object.entries({
    'has an optional property': closed({ day: text }, { required: [] }),
    'requires nothing': closed({ day: text }, { required: undefined }),
    'takes more properties': open,
    'has such an object in a property': closed({ when: open }),
    'has such an object in a list': closed({ when: { type: 'array', items: open } }),
    'has such an object in a choice': closed({ when: { anyOf: [text, open] } }),
    'has such an object in a definition': closed({}, { $defs: { when: open } }),
    'has a list of anything': closed({ days: { type: 'array' } }),
    'has a property of any type': closed({ day: {} }),
    'has what not every model takes': closed({ day: { ...text, format: 'uri' } }),
    'is no object': text,
    'has a member of another type': closed({}, { properties: [] }),
  }))
    it(`given one that ${what} then OpenAI would refuse it`, () => {
      assert.equal(isStrictSchema(JSON.stringify(schema)), false);
    });

  it('given no JSON then OpenAI would refuse it', () => {
    assert.equal(isStrictSchema('{'), false);
  });
});
