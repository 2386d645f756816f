import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FieldType } from '#domain/template/field-value.ts';
import { fillPlaceholders, placeholdersIn, textParts } from '#domain/template/placeholders.ts';
import type { Json } from '#shared/json/json.ts';

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

describe('filling placeholders', () => {
  const types: Readonly<Record<string, FieldType>> = { name: 'string', limit: 'number', on: 'boolean' };
  const given: Readonly<Record<string, string>> = { name: 'Dr. "Weber" 😀', limit: '1.50', on: 'false' };
  const fill = (schema: Json, values = given, maxCharacters = 1_000_000) => {
    const typeOf = (field: string) => types[field] ?? 'string';
    const result = fillPlaceholders(schema, { typeOf, valueFor: (field) => values[field] }, maxCharacters);
    return result === 'too-large' ? result : result.filled;
  };

  it('fills strings anywhere, and nothing else', () => {
    assert.deepEqual(fill({ a: ['Hello {{fields.name}}!', 1, null, true], '{{fields.name}}': '{{other}}' }), {
      a: ['Hello Dr. "Weber" 😀!', 1, null, true],
      '{{fields.name}}': '{{other}}',
    });
    assert.equal(fill('{{fields.name}}'), given.name);
  });

  it('gives a string that is nothing but one placeholder its type; in a text, the value as it was given', () => {
    assert.deepEqual(fill(['{{fields.limit}}', '{{fields.on}}', '{{fields.name}}']), [1.5, false, given.name]);
    assert.deepEqual(fill(['{{fields.limit}} min', '{{fields.on}}{{fields.limit}}', ' {{fields.limit}}']), [
      '1.50 min',
      'false1.50',
      ' 1.50',
    ]);
  });

  it('gives an empty text for a field without a value, alone too', () => {
    assert.deepEqual(fill(['{{fields.limit}}', 'a{{fields.limit}}b', '{{fields.on}}'], {}), ['', 'ab', '']);
  });

  it('takes away the backslash that escapes', () => {
    assert.equal(fill('\\{{fields.name}} \\\\{{fields.limit}}'), '{{fields.name}} \\1.50');
  });

  it('does not look at values for placeholders', () => {
    const name = '{{fields.limit}} \\{{fields.on}}';
    assert.deepEqual(fill(['{{fields.name}}', 'a {{fields.name}}'], { ...given, name }), [name, `a ${name}`]);
  });

  it('keeps members with any name as they are, and the depth', () => {
    const odd = JSON.parse('{"__proto__":{"a":"{{fields.limit}}"},"constructor":"{{fields.on}}","toJSON":"x"}') as Json;
    assert.equal(JSON.stringify(fill(odd)), '{"__proto__":{"a":1.5},"constructor":false,"toJSON":"x"}');
    const deep = `${'[{"a":'.repeat(128)}"{{fields.limit}}"${'}]'.repeat(128)}`;
    assert.equal(JSON.stringify(fill(JSON.parse(deep))), deep.replace('"{{fields.limit}}"', '1.5'));
  });

  it('stops at a limit, however few placeholders it takes to come there', () => {
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

  it('leaves what has no placeholder as it is, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const schema = JSON.parse(JSON.stringify(value)) as Json;
        assert.deepEqual(fill(schema), schema);
      }),
    );
  });
});
