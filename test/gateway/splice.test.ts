import assert from 'node:assert/strict';
import fc from 'fast-check';
import { deeperThan } from '#src/json-scan.ts';
import { membersOf } from '../../src/gateway/json-members.ts';
import { applyEdits, asciiJson, editsOf } from '../../src/gateway/splice.ts';

/** A JSON text written by hand: odd white space, doubled names, escaped names, long numbers. */
const whiteSpace = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/);

/** A JSON string that says a text, each character written in one of the ways there are. */
const spelled = (text: string) =>
  fc
    .tuple(...[...text].map((char) => fc.boolean().map((escaped) => (escaped ? escapeOf(char) : plain(char)))))
    .map((chars) => `"${chars.join('')}"`);

const escapeOf = (char: string) =>
  [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
const plain = (char: string) => JSON.stringify(char).slice(1, -1);

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('model', 'reasoning', 'voice', 'messages') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('{"model":"x"}', '\\', '"', '},{'),
);

const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('true', 'false', 'null'),
    number,
    text.chain(spelled),
    tie('array'),
    tie('object'),
  ),
  array: fc
    .tuple(whiteSpace, fc.array(fc.tuple(whiteSpace, tie('value'), whiteSpace), { maxLength: 3 }))
    .map(([inside, items]) => `[${items.length === 0 ? inside : items.map((parts) => parts.join('')).join(',')}]`),
  object: fc
    .array(fc.tuple(name.chain(spelled), tie('value')), { maxLength: 3 })
    .map((members) => `{${members.map(([key, member]) => `${key} : ${member}`).join(',\n')}}`),
}));

/** The members of an object as they are written, with what stands between them. */
const object = fc
  .tuple(
    whiteSpace,
    fc.array(
      name.chain((known) =>
        fc.tuple(fc.constant(known), whiteSpace, spelled(known), whiteSpace, whiteSpace, value, whiteSpace),
      ),
      { maxLength: 8 },
    ),
    whiteSpace,
  )
  .map(([before, members, inside]) => ({ before, members, inside }));

type Written = typeof object extends fc.Arbitrary<infer W> ? W : never;

const textOf = ({ before, members, inside }: Written, change: (name: string, value: string) => string = (_, v) => v) =>
  `${before}{${
    members.length === 0
      ? inside
      : members.map(([known, a, key, b, c, member, d]) => `${a}${key}${b}:${c}${change(known, member)}${d}`).join(',')
  }}${before}`;

const latin1 = (json: string) => Buffer.from(json).toString('latin1');
const openOf = (json: string) => latin1(json).indexOf('{');

describe('splice', () => {
  it('finds every member of every object that JSON.parse reads', () => {
    fc.assert(
      fc.property(object, (written) => {
        const json = textOf(written);
        JSON.parse(json);
        const bytes = Buffer.from(json);
        const members = membersOf(latin1(json)) ?? [];
        assert.equal(members.length, written.members.length);
        for (const [index, { name: found, valueStart, end }] of members.entries()) {
          const [known, , , , , member] = written.members[index] ?? assert.fail();
          if (/^[\x20-\x7e]*$/.test(known)) assert.equal(found, known);
          assert.equal(bytes.toString('utf8', valueStart, end), member);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('replaces every value of a name and keeps every other byte', () => {
    fc.assert(
      fc.property(object, fc.string({ unit: 'grapheme' }), (written, model) => {
        const json = textOf(written);
        const edits = editsOf(membersOf(latin1(json)) ?? [], openOf(json), { replace: { model: asciiJson(model) } });
        const spliced = applyEdits(Buffer.from(json), edits).toString();
        assert.equal(
          spliced,
          textOf(written, (known, old) => (known === 'model' ? asciiJson(model) : old)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('takes members out with one comma each, adds a missing one first, and leaves the others as they are', () => {
    fc.assert(
      fc.property(object, (written) => {
        const json = textOf(written);
        const changes = { replace: { model: '"m"' }, add: ['model'], remove: ['reasoning'] };
        const spliced = applyEdits(Buffer.from(json), editsOf(membersOf(latin1(json)) ?? [], openOf(json), changes));
        const result = spliced.toString();
        const kept = written.members.filter(([known]) => known !== 'reasoning');
        const members = membersOf(latin1(result)) ?? assert.fail(result);
        JSON.parse(result);
        const expected = kept.map(([known, , key, , , member]) => [key, known === 'model' ? '"m"' : member]);
        if (!kept.some(([known]) => known === 'model')) expected.unshift(['"model"', '"m"']);
        assert.deepEqual(
          members.map(({ start, valueStart, end }) => [
            spliced.toString('utf8', start, endOfName(latin1(result), start)),
            spliced.toString('utf8', valueStart, end),
          ]),
          expected,
        );
      }),
      { numRuns: 500 },
    );
  });

  it('reads names with escapes, doubled names and numbers of any length', () => {
    const json = '{"\\u006dodel" : "a","n":1.00000000000000000001e+2,"model":"b" }';
    const edits = editsOf(membersOf(json) ?? [], 0, { replace: { model: '"gpt"' } });
    assert.equal(
      applyEdits(Buffer.from(json), edits).toString(),
      '{"\\u006dodel" : "gpt","n":1.00000000000000000001e+2,"model":"gpt" }',
    );
  });

  it('gives nothing for what is no object, and ends on any bytes', () => {
    for (const json of [
      '',
      '[]',
      '"x"',
      'null',
      '{',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '{"a" 1}',
      '{a:1}',
      '{"a":1]',
    ])
      assert.equal(membersOf(json), null, json);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (any) => void membersOf(any)));
    fc.assert(fc.property(fc.stringMatching(/^[{}[\]":,\\a ]*$/), (any) => void membersOf(`{${any}`)));
  });

  it('counts levels outside of strings only', () => {
    assert.equal(deeperThan(`${'['.repeat(256)}${']'.repeat(256)}`, 256), false);
    assert.equal(deeperThan(`${'{"a":'.repeat(257)}`, 256), true);
    assert.equal(deeperThan(`["${'['.repeat(1_000)}\\"${'['.repeat(1_000)}"]`, 256), false);
  });
});

function endOfName(json: string, start: number): number {
  const match = /"(?:[^"\\]|\\.)*"/sy;
  match.lastIndex = start;
  return start + (match.exec(json)?.[0].length ?? 0);
}
