import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { jsonSchema } from '#application/operations/json-schema.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

const Desk = record('Desk', { name: [text(), 'Front desk'], floor: [nullable(t.number), null] }, { note: text() });

describe('a record', () => {
  it('has an example with each member that is always there', () => {
    assert.deepEqual(Desk.example, { name: 'Front desk', floor: null });
    assert.ok(Desk.is(Desk.example));
  });

  it('decodes with and without the members that may be absent', () => {
    for (const desk of [Desk.example, { ...Desk.example, note: 'near the stairs' }])
      assert.deepEqual(Desk.decode(desk), E.right(desk));
    assert.ok(E.isLeft(Desk.decode({ ...Desk.example, note: 1 })));
    assert.ok(E.isLeft(Desk.decode({ name: 'Front desk' })));
  });

  it('has the schema of its codecs', () => {
    assert.deepEqual(jsonSchema(Desk), {
      type: 'object',
      properties: { name: { type: 'string' }, floor: { type: ['number', 'null'] }, note: { type: 'string' } },
      required: ['name', 'floor'],
    });
  });
});
