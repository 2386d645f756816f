import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type FieldType, fillPlaceholders, placeholdersIn, textParts } from '#domain/template/placeholders.ts';
import type { Json } from '#shared/json/json.ts';

const found = (schema: Json) => [...placeholdersIn(schema)].map(({ field, path }) => `${path().join('/')} ${field}`);

describe('textParts and placeholdersIn', () => {
  it('splits a text into placeholders and the text between them', () => {
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
    it(`finds no placeholder in ${text}`, () => {
      assert.deepEqual(textParts(text), [text]);
    });
  }

  it('finds placeholders within further braces', () => {
    assert.deepEqual(textParts('{{{fields.a}}}'), ['{', { field: 'a' }, '}']);
    assert.deepEqual(textParts('{{fields.{{fields.a}}'), ['{{fields.', { field: 'a' }]);
  });

  it('treats a placeholder after a backslash as text, and a double backslash as one', () => {
    assert.deepEqual(textParts('\\{{fields.a}}'), ['{{fields.a}}']);
    assert.deepEqual(textParts('x\\\\{{fields.a}}'), ['x\\', { field: 'a' }]);
    assert.deepEqual(textParts('\\\\\\{{fields.a}}y'), ['\\{{fields.a}}y']);
    assert.deepEqual(textParts('{{fields.a}}\\{{fields.b}}'), [{ field: 'a' }, '{{fields.b}}']);
    assert.deepEqual(textParts('\\a\\\\b{{fields.a}}\\'), ['\\a\\\\b', { field: 'a' }, '\\']);
  });

  it('restores any escaped text', () => {
    const piece = fc.constantFrom('\\', '{{fields.a}}', '{{fields.', '}}', 'a', '{', '😀');
    const escaped = (text: string) =>
      text.replace(
        /(\\*)(\{\{fields\.a+\}\})/g,
        (_, slashes: string, whole: string) => `${slashes}${slashes}\\${whole}`,
      );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        assert.equal(textParts(escaped(text)).join(''), text);
      }),
    );
  });

  it('finds placeholders in every string of a schema, in order and with their paths', () => {
    const schema = {
      say: 'Good day, {{fields.name}} of {{fields.company}}',
      nodes: [1, null, { '{{fields.notHere}}': ['\\{{fields.notHere}}', '{{fields.name}}'] }, true],
      'a/b': { end: '{{fields.end}}' },
    };
    assert.deepEqual(found(schema), ['say name', 'say company', 'nodes/2/{{fields.notHere}}/1 name', 'a/b/end end']);
    assert.deepEqual(found('{{fields.a}}'), [' a']);
    for (const none of [null, 1, true, 'a', [], {}]) assert.deepEqual(found(none), []);
  });

  it('finds placeholders at any depth', () => {
    let schema: Json = '{{fields.deep}}';
    for (let level = 0; level < 100_000; level += 1) schema = [schema];
    assert.equal([...placeholdersIn(schema)].length, 1);
  });

  it('finds a placeholder among very many other items', () => {
    const schema = [...Array.from({ length: 300_000 }, () => []), '{{fields.last}}'];
    assert.deepEqual(found(schema), ['300000 last']);
  });

  it('finds placeholders in members that have the name of an inherited one', () => {
    assert.deepEqual(found(JSON.parse('{"__proto__": {"constructor": "{{fields.a}}"}}')), ['__proto__/constructor a']);
  });

  it('splits a text in time linear in its length', () => {
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

describe('fillPlaceholders', () => {
  const types: Readonly<Record<string, FieldType>> = { name: 'string', limit: 'number', on: 'boolean' };
  const given: Readonly<Record<string, string>> = { name: 'Dr. "Weber" 😀', limit: '1.50', on: 'false' };
  const fill = (schema: Json, values = given, maxCharacters = 1_000_000) => {
    const typeOf = (field: string) => types[field] ?? 'string';
    const result = fillPlaceholders(schema, { typeOf, valueFor: (field) => values[field] }, maxCharacters);
    return result === 'too-large' ? result : result.filled;
  };

  it('fills placeholders in strings anywhere, and changes nothing else', () => {
    assert.deepEqual(fill({ a: ['Hello {{fields.name}}!', 1, null, true], '{{fields.name}}': '{{other}}' }), {
      a: ['Hello Dr. "Weber" 😀!', 1, null, true],
      '{{fields.name}}': '{{other}}',
    });
    assert.equal(fill('{{fields.name}}'), given.name);
  });

  it('gives a string of one placeholder the field’s type, and inserts the given value into a longer text', () => {
    assert.deepEqual(fill(['{{fields.limit}}', '{{fields.on}}', '{{fields.name}}']), [1.5, false, given.name]);
    assert.deepEqual(fill(['{{fields.limit}} min', '{{fields.on}}{{fields.limit}}', ' {{fields.limit}}']), [
      '1.50 min',
      'false1.50',
      ' 1.50',
    ]);
  });

  it('fills a field without a value with an empty text', () => {
    assert.deepEqual(fill(['{{fields.limit}}', 'a{{fields.limit}}b', '{{fields.on}}'], {}), ['', 'ab', '']);
  });

  it('removes the backslash that escapes a placeholder', () => {
    assert.equal(fill('\\{{fields.name}} \\\\{{fields.limit}}'), '{{fields.name}} \\1.50');
  });

  it('does not fill placeholders inside values', () => {
    const name = '{{fields.limit}} \\{{fields.on}}';
    assert.deepEqual(fill(['{{fields.name}}', 'a {{fields.name}}'], { ...given, name }), [name, `a ${name}`]);
  });

  it('keeps members with any name, and any depth', () => {
    const odd = JSON.parse('{"__proto__":{"a":"{{fields.limit}}"},"constructor":"{{fields.on}}","toJSON":"x"}') as Json;
    assert.equal(JSON.stringify(fill(odd)), '{"__proto__":{"a":1.5},"constructor":false,"toJSON":"x"}');
    const deep = `${'[{"a":'.repeat(128)}"{{fields.limit}}"${'}]'.repeat(128)}`;
    assert.equal(JSON.stringify(fill(JSON.parse(deep))), deep.replace('"{{fields.limit}}"', '1.5'));
  });

  it('stops at the size limit, however few placeholders reach it', () => {
    const values = { name: 'x'.repeat(700_000) };
    assert.equal(fill('{{fields.name}}'.repeat(60_000), values), 'too-large');
    assert.equal(
      fill(
        Array.from({ length: 60_000 }, () => '{{fields.name}}'),
        values,
      ),
      'too-large',
    );
    assert.deepEqual(fill(['abc', 'd'], given, 4), ['abc', 'd']);
    assert.equal(fill(['abc', 'd'], given, 3), 'too-large');
    assert.equal(fill(['{{fields.limit}}.'], given, 4), 'too-large');
  });

  it('keeps any schema without placeholders unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const schema = JSON.parse(JSON.stringify(value)) as Json;
        assert.deepEqual(fill(schema), schema);
      }),
    );
  });
});
