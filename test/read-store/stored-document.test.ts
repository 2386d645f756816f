import assert from 'node:assert/strict';
import fc from 'fast-check';
import { recordLast, StoredDocument } from '#read-store/stored-document.ts';
import { parsedCharacters } from '#test/support/harness/parsed-characters.ts';
import { itInRounds } from '#test/support/run/long.ts';

const stored = (value: object) => new StoredDocument<{ record?: unknown }>('a', 1, JSON.stringify(recordLast(value)));

describe('a stored document', () => {
  it('gives itself, its record, and what stands beside the record', () => {
    const document = stored({ organizationId: 'c1', record: { name: 'a "record":1' }, partnerId: null, revision: 12 });
    const head = { organizationId: 'c1', partnerId: null, revision: 12 };
    assert.deepEqual(document.value, { ...head, record: { name: 'a "record":1' } });
    assert.deepEqual(document.head, head);
    assert.equal(document.record.text, '{"name":"a \\"record\\":1"}');
  });

  it('parses none of its record to give the record and what stands beside it', async () => {
    const document = stored({ note: '\\","record":', record: { schema: 'x'.repeat(100_000) } });
    const { characters } = await parsedCharacters(() => [document.head, document.record.text]);
    assert.ok(characters < 100, `${characters} characters were parsed`);
  });

  it('may have no record, however much another member of it looks like one', () => {
    const document = stored({ state: { values: { a: 'b', record: 'c' } } });
    assert.deepEqual(document.head, { state: { values: { a: 'b', record: 'c' } } });
    assert.throws(() => document.record, /no record/);
  });

  it('may have objects and lists beside its record', () => {
    const document = stored({ list: [{ record: 1 }], record: null });
    assert.deepEqual(document.head, { list: [{ record: 1 }] });
    assert.equal(document.record.text, 'null');
  });

  itInRounds('is cut right whatever it holds', { few: 300, many: 10_000 }, (numRuns) => {
    // V8 13.6 takes the name `"` for `\` after it has parsed an object with the name `\`, so none has a backslash here.
    const names = fc.oneof(
      fc.constantFrom('record', 'a', 'a"b'),
      fc.string({ maxLength: 4 }).filter((name) => !name.includes('\\')),
    );
    const values = fc.oneof(fc.string(), fc.double({ noDefaultInfinity: true, noNaN: true }), fc.jsonValue());
    fc.assert(
      fc.property(fc.dictionary(names, values), (value) => {
        const document = stored(value);
        const { record, ...head } = JSON.parse(JSON.stringify(value));
        assert.deepEqual(document.head, head);
        if (record !== undefined) assert.deepEqual(document.record.parse(), record);
      }),
      { numRuns },
    );
  });
});
