import assert from 'node:assert/strict';
import fc from 'fast-check';
import { placeholdersIn, textParts } from '#domain/template/placeholders.ts';
import type { Json } from '#src/json.ts';

const found = (schema: Json) => [...placeholdersIn(schema)].map(({ field, path }) => `${path().join('/')} ${field}`);

describe('placeholders', () => {
  it('are told from the text around them', () => {
    assert.deepEqual(textParts('Hello {{fields.name}}, it is {{fields._n1}}'), [
      'Hello ',
      { field: 'name' },
      ', it is ',
      { field: '_n1' },
    ]);
    assert.deepEqual(textParts('{{fields.a}}{{fields.b}}'), [{ field: 'a' }, { field: 'b' }]);
    assert.deepEqual(textParts(''), []);
  });

  for (const text of [
    '{{fields.}}',
    '{{fields.1a}}',
    '{{fields.a-b}}',
    '{{ fields.a }}',
    '{{fields.a }}',
    '{{Fields.a}}',
    '{{fields.é}}',
    '{{fields.a.b}}',
    '{{field.a}}',
    '{fields.a}',
    '{{fields.a}',
    '{{fields.a',
    '{{other}}',
    '\\n \\ {{x}} \\',
  ]) {
    it(`are not in ${text}`, () => {
      assert.deepEqual(textParts(text), [text]);
    });
  }

  it('stand within further braces', () => {
    assert.deepEqual(textParts('{{{fields.a}}}'), ['{', { field: 'a' }, '}']);
    assert.deepEqual(textParts('{{fields.{{fields.a}}'), ['{{fields.', { field: 'a' }]);
  });

  it('lose their meaning behind a backslash, and a backslash behind another', () => {
    assert.deepEqual(textParts('\\{{fields.a}}'), ['{{fields.a}}']);
    assert.deepEqual(textParts('x\\\\{{fields.a}}'), ['x\\', { field: 'a' }]);
    assert.deepEqual(textParts('\\\\\\{{fields.a}}y'), ['\\{{fields.a}}y']);
    assert.deepEqual(textParts('{{fields.a}}\\{{fields.b}}'), [{ field: 'a' }, '{{fields.b}}']);
    assert.deepEqual(textParts('\\a\\\\b{{fields.a}}\\'), ['\\a\\\\b', { field: 'a' }, '\\']);
  });

  it('and texts that were escaped come back whole, whatever they are', () => {
    const piece = fc.constantFrom('\\', '{{fields.a}}', '{{fields.', '}}', 'a', '{', '😀');
    const escaped = (text: string) =>
      text.replace(
        /(\\*)(\{\{fields\.a\}\})/g,
        (_, slashes: string, whole: string) => `${slashes}${slashes}\\${whole}`,
      );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        assert.equal(textParts(escaped(text)).join(''), text);
      }),
    );
  });

  it('are found in every string of a schema, in order, with the way there', () => {
    const schema = {
      say: 'Good day, {{fields.name}} of {{fields.company}}',
      nodes: [1, null, { '{{fields.notHere}}': ['\\{{fields.notHere}}', '{{fields.name}}'] }, true],
      'a/b': { end: '{{fields.end}}' },
    };
    assert.deepEqual(found(schema), ['say name', 'say company', 'nodes/2/{{fields.notHere}}/1 name', 'a/b/end end']);
    assert.deepEqual(found('{{fields.a}}'), [' a']);
    for (const none of [null, 1, true, 'a', [], {}]) assert.deepEqual(found(none), []);
  });

  it('are found at any depth', () => {
    let schema: Json = '{{fields.deep}}';
    for (let level = 0; level < 100_000; level += 1) schema = [schema];
    assert.equal([...placeholdersIn(schema)].length, 1);
  });

  it('are found among very many others', () => {
    const schema = [...Array.from({ length: 300_000 }, () => []), '{{fields.last}}'];
    assert.deepEqual(found(schema), ['300000 last']);
  });

  it('are found in members that are named as those of every object', () => {
    assert.deepEqual(found(JSON.parse('{"__proto__": {"constructor": "{{fields.a}}"}}')), ['__proto__/constructor a']);
  });

  it('take a time that grows with the text alone', () => {
    const length = 400_000;
    for (const text of [
      `${'\\'.repeat(length)}{{fields.a`,
      '{{fields.'.repeat(length / 9),
      `{{fields.${'a'.repeat(length)}`,
      '\\{{fields.a}}'.repeat(length / 13),
    ]) {
      const begun = performance.now();
      textParts(text);
      assert.ok(performance.now() - begun < 2_000);
    }
  });
});
