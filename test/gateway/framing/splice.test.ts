import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MemberCollector, wantedNames } from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, editsOf } from '#gateway/framing/splice.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { itInRounds } from '#test/support/run/long.ts';

/** JSON texts in unusual notation: white space, repeated names, escaped names, long numbers. */
const whiteSpace = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/);

/** A JSON string of a text, with each character in any of its notations. */
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

/** The members of an object as they are written, with the bytes between them. */
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

/** The members with these names in a text that must be valid. */
const membersOf = (json: string, names: ReadonlyArray<string>) => {
  const bytes = Buffer.from(json);
  const members = new MemberCollector(bytes, wantedNames(Object.fromEntries(names.map((wanted) => [wanted, []]))));
  const scanner = new JsonScanner(bytes, { maxValues: 10_000 }, members);
  assert.ok(scanner.advance());
  assert.equal(scanner.fault, null, json);
  return members;
};

/** The names and values of an object as they are written. */
const writtenMembers = (json: string) => {
  const bytes = Buffer.from(json);
  const members: string[][] = [];
  let valueStart = 0;
  const listener = {
    maxLevel: 1,
    begin: (level: number, start: number, nameStart: number, nameEnd: number) => {
      valueStart = start;
      if (level === 1) members.push([bytes.toString('utf8', nameStart, nameEnd)]);
    },
    end: (level: number, end: number) => {
      if (level === 1) members.at(-1)?.push(bytes.toString('utf8', valueStart, end));
    },
  };
  assert.ok(new JsonScanner(bytes, { maxValues: 10_000 }, listener).advance());
  return members;
};

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);
const changed = ['model', 'reasoning'];

describe('splice', () => {
  itInRounds(
    'finds the requested members in every object that JSON.parse reads',
    { few: 150, many: 3_000 },
    (numRuns) => {
      fc.assert(
        fc.property(object, (written) => {
          const json = textOf(written);
          JSON.parse(json);
          const bytes = Buffer.from(json);
          const known = new Set(written.members.map(([each]) => each).filter(isAscii));
          const { count, found, open } = membersOf(json, [...known]);
          assert.equal(count, written.members.length);
          assert.equal(open, bytes.indexOf('{'));
          assert.deepEqual(
            found.map(({ name: each, valueStart, end }) => [each, bytes.toString('utf8', valueStart, end)]),
            written.members.filter(([each]) => known.has(each)).map(([each, , , , , member]) => [each, member]),
          );
        }),
        { numRuns },
      );
    },
  );

  itInRounds('replaces every value of a name and keeps every other byte', { few: 150, many: 3_000 }, (numRuns) => {
    fc.assert(
      fc.property(object, fc.string({ unit: 'grapheme' }), (written, model) => {
        const json = textOf(written);
        const edits = editsOf(membersOf(json, changed), { replace: { model: asciiJson(model) } });
        const spliced = applyEdits(Buffer.from(json), edits).toString();
        assert.equal(
          spliced,
          textOf(written, (known, old) => (known === 'model' ? asciiJson(model) : old)),
        );
      }),
      { numRuns },
    );
  });

  itInRounds(
    'removes members with one comma each, adds a missing member first, and keeps the others',
    { few: 150, many: 3_000 },
    (numRuns) => {
      fc.assert(
        fc.property(object, (written) => {
          const json = textOf(written);
          const changes = { replace: { model: '"m"' }, add: ['model'], remove: ['reasoning'] };
          const spliced = applyEdits(Buffer.from(json), editsOf(membersOf(json, changed), changes));
          const result = spliced.toString();
          const kept = written.members.filter(([known]) => known !== 'reasoning');
          JSON.parse(result);
          const expected = kept.map(([known, , key, , , member]) => [key, known === 'model' ? '"m"' : member]);
          if (!kept.some(([known]) => known === 'model')) expected.unshift(['"model"', '"m"']);
          assert.deepEqual(writtenMembers(result), expected);
        }),
        { numRuns },
      );
    },
  );

  it('reads names with escapes, repeated names and numbers of any length', () => {
    const json = '{"\\u006dodel" : "a","n":1.00000000000000000001e+2,"model":"b" }';
    const edits = editsOf(membersOf(json, changed), { replace: { model: '"gpt"' } });
    assert.equal(
      applyEdits(Buffer.from(json), edits).toString(),
      '{"\\u006dodel" : "gpt","n":1.00000000000000000001e+2,"model":"gpt" }',
    );
  });
});
