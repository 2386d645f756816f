import assert from 'node:assert/strict';
import fc from 'fast-check';
import { recordLast, StoredDocument } from '#read-store/stored-document.ts';
import { countParsedCharacters } from '#test/support/harness/count-parsed-characters.ts';
import { itInRounds } from '#test/support/run/long.ts';

const stored = (value: object) =>
  new StoredDocument<{ record?: unknown }>('a', 1, JSON.stringify(recordLast(value)), 1);

describe('StoredDocument', () => {
  it('returns the document, its record, and the members beside the record', () => {
    const document = stored({ organizationId: 'c1', record: { name: 'a "record":1' }, partnerId: null, revision: 12 });
    const head = { organizationId: 'c1', partnerId: null, revision: 12 };
    assert.deepEqual(document.value, { ...head, record: { name: 'a "record":1' } });
    assert.deepEqual(document.head, head);
    assert.equal(document.record.text, '{"name":"a \\"record\\":1"}');
  });

  it('returns its claims without parsing it, and none if it claims nothing', async () => {
    const documents = [
      { claims: 'a b', record: 1 },
      { claims: '', record: { claims: 'c' } },
      { record: '{"claims":"c"' },
    ];
    const { result, characters } = await countParsedCharacters(() => documents.map((value) => stored(value).claims));
    assert.deepEqual(result, ['a b', '', '']);
    assert.equal(characters, 0);
  });

  it('returns the record and the members beside it without parsing the record', async () => {
    const document = stored({ note: '\\","record":', record: { schema: 'x'.repeat(100_000) } });
    const { characters } = await countParsedCharacters(() => [document.head, document.record.text]);
    assert.ok(characters < 100, `${characters} characters were parsed`);
  });

  it('distinguishes a quote that ends a text from an escaped one, whatever number of backslashes is before it', async () => {
    for (const note of ['\\', '\\\\', '"', '\\"', '"\\', '\\",', 'a\\"b\\\\"', '","record":"\\']) {
      const document = stored({ note, revision: 1, record: { note, schema: 'x'.repeat(10_000) } });
      const { characters } = await countParsedCharacters(() => [document.head, document.record.text]);
      assert.ok(characters < 100, `${characters} characters were parsed for ${note}`);
      assert.deepEqual(document.head, { note, revision: 1 }, note);
      assert.equal((document.record.parse() as { readonly note: string }).note, note);
    }
  });

  it('has no record when only another member’s text looks like one', () => {
    const document = stored({ state: { values: { a: 'b', record: 'c' } } });
    assert.deepEqual(document.head, { state: { values: { a: 'b', record: 'c' } } });
    assert.throws(() => document.record, /no record/);
  });

  it('allows objects and lists beside the record', () => {
    const document = stored({ list: [{ record: 1 }], record: null });
    assert.deepEqual(document.head, { list: [{ record: 1 }] });
    assert.equal(document.record.text, 'null');
  });

  itInRounds('splits any document into its record and the members beside it', { few: 300, many: 10_000 }, (numRuns) => {
    // V8 13.6 reads the name `"` as `\` after it has parsed an object with the name `\`, so no name has a backslash.
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
