import assert from 'node:assert/strict';
import fc from 'fast-check';
import { filledSize } from '#domain/template/filled-size.ts';
import { fillPlaceholders } from '#domain/template/placeholders.ts';
import type { Json } from '#shared/json/json.ts';

const valuesOf = (values: Readonly<Record<string, string>>) => ({
  typeOf: () => 'string' as const,
  valueFor: (field: string) => values[field],
});

describe('filledSize', () => {
  it('gives the size of the JSON texts of filled schemas', () => {
    const part = fc.oneof(fc.constantFrom('{{fields.a}}', '{{fields.b}}', '{{other}}', 'é"\n'), fc.string());
    const text = fc.array(part, { maxLength: 5 }).map((parts) => parts.join('').replaceAll('\\', ''));
    const schema = fc.array(fc.oneof(text, fc.dictionary(text, text, { noNullPrototype: true }), fc.integer()));
    fc.assert(
      fc.property(schema, fc.string(), fc.string(), (flowSchema, a, b) => {
        const filled = fillPlaceholders(flowSchema as Json, valuesOf({ a, b }), 1e9);
        assert.ok(filled !== 'too-large');
        const { bytes } = filledSize([flowSchema as Json], valuesOf({ a, b }).valueFor);
        assert.equal(bytes, Buffer.byteLength(JSON.stringify(filled.filled)));
      }),
    );
  });

  it('adds up all schemas, and names the field whose values take most bytes', () => {
    const values = valuesOf({ long: 'x'.repeat(1_000), short: 'y' });
    const schemas = ['{{fields.long}}', '{{fields.short}}'.repeat(2_000)];
    assert.deepEqual(filledSize(schemas, values.valueFor), { bytes: 1_000 + 2_000 + 4, largestField: 'short' });
    assert.deepEqual(filledSize(['plain', '{{fields.none}}'], values.valueFor), { bytes: 9, largestField: null });
  });

  it('counts terabytes without making the filled texts', () => {
    const schema = '{{fields.long}}'.repeat(10_000);
    const value = 'x'.repeat(1_000_000);
    const schemas = Array.from({ length: 100 }, () => schema);
    assert.equal(filledSize(schemas, () => value).bytes, 100 * (10_000 * 1_000_000 + 2));
  });
});
