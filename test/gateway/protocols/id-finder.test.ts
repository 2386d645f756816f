import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CompiledIdRules, IdFinder, type IdKind, type IdRules } from '#gateway/protocols/provider-ids.ts';
import { isObject, type Json } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { itInRounds } from '#test/support/run/long.ts';

const rules: IdRules = {
  names: { file_id: 'file', file_ids: 'file', box: 'container' },
  paths: [
    [['list', '*', 'file_id'], 'own file'],
    [['box', 'id'], 'container'],
  ],
  freeJson: [['meta'], ['list', '*', 'free'], ['list', '*', 'list', '*', 'free']],
};
const compiled = new CompiledIdRules(rules);

function idsIn(text: string) {
  const bytes = Buffer.from(text);
  const finder = new IdFinder(bytes, compiled, 100);
  const scanner = new JsonScanner(bytes, { maxValues: Number.POSITIVE_INFINITY }, finder);
  while (!scanner.advance());
  assert.equal(scanner.fault, null);
  const read = (start: number, end: number) => JSON.parse(bytes.toString('utf8', start, end));
  return finder.found.map(({ kind, pointer, valueStart, end, nameStart, object }) => ({
    kind,
    pointer,
    id: read(valueStart, end),
    member: /^"(?:[^"\\]|\\.)*"/.exec(bytes.toString('utf8', nameStart))?.[0],
    object: read(object.valueStart, object.end),
  }));
}

const matches = (pattern: ReadonlyArray<string>, keys: ReadonlyArray<string | number>) =>
  pattern.length === keys.length &&
  keys.every((key, index) => (typeof key === 'number' ? pattern[index] === '*' : pattern[index] === key));

/** The ids in a parsed value, by the words of the rules. */
function expectedIn(
  value: Json | undefined,
  keys: ReadonlyArray<string | number> = [],
): ReadonlyArray<readonly [string, IdKind]> {
  if (rules.freeJson.some((pattern) => matches(pattern, keys))) return [];
  if (Array.isArray(value)) return value.flatMap((each, index) => expectedIn(each, [...keys, index]));
  if (isObject(value)) return Object.entries(value).flatMap(([name, each]) => expectedIn(each, [...keys, name]));
  if (typeof value !== 'string') return [];
  const path = typeof keys.at(-1) === 'number' ? keys.slice(0, -1) : keys;
  const atPath = rules.paths.find(([pattern]) => matches(pattern, path))?.[1];
  const kind = atPath ?? new Map(Object.entries(rules.names)).get(String(path.at(-1)));
  return kind === undefined ? [] : [[pointerTo(keys.map(String)), kind]];
}

const name = fc.constantFrom('file_id', 'file_ids', 'box', 'list', 'free', 'meta', 'id', 'text', 'fil', 'a/b', '');
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'large', withCrossShrink: true },
    fc.constantFrom<Json>('x', '', 5, null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const body = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true });

/** Writes JSON with white space, and with escapes in every other name. */
function spell(each: Json | undefined): string {
  let names = 0;
  return JSON.stringify(each, null, 1).replace(/"([a-z_]+)":/g, (whole, text: string) => {
    names += 1;
    const at = names % text.length;
    const escaped = `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
    return names % 2 === 0 ? whole : `"${text.slice(0, at)}${escaped}${text.slice(at + 1)}" :`;
  });
}

describe('ids in a body', () => {
  itInRounds(
    'are found exactly where a member names them outside of free JSON, at every depth, however names are spelled',
    { few: 300, many: 5_000 },
    (rounds) =>
      fc.assert(
        fc.property(body, (value) => {
          for (const text of [JSON.stringify(value), spell(value)])
            assert.deepEqual(
              idsIn(text).map(({ pointer, kind }) => [pointer, kind]),
              expectedIn(value),
            );
        }),
        { numRuns: rounds },
      ),
  );

  it('come with the place of the text, of the name and of the object around it', () => {
    const text = '{"list":[{"free":{"file_id":"no"},"file_\\u0069d" : "a\\u0062c", "box":["one", {"id":1}]}]}';
    const object = JSON.parse(text).list[0];
    assert.deepEqual(idsIn(text), [
      { kind: 'own file', pointer: '/list/0/file_id', id: 'abc', member: '"file_\\u0069d"', object },
      { kind: 'container', pointer: '/list/0/box/0', id: 'one', member: '"box"', object },
    ]);
  });

  it('are found each time a name is repeated, of which a parser keeps one', () => {
    const found = idsIn(
      '{"file_id":"a","file_id":5,"x":{"file_id":"b","file_id":"c"},"meta":1,"meta":{"file_id":"d"}}',
    );
    assert.deepEqual(
      found.map(({ id }) => id),
      ['a', 'b', 'c'],
    );
  });

  it('are found at the deepest level that a body may have', () => {
    const [opened, closed] = ['{"a":'.repeat(254), '}'.repeat(254)];
    assert.deepEqual(
      idsIn(`${opened}{"file_id":"x"}${closed}`).map(({ pointer }) => pointer.length),
      [254 * 2 + '/file_id'.length],
    );
  });

  it('cost one reading of each name around them, of those that have a place in a pointer', () => {
    const decodedIn = (name: string) => {
      const [opened, closed] = [`{"${name}":`.repeat(100), '}'.repeat(100)];
      const bytes = Buffer.from(`${opened}{"file_ids":[${'"x",'.repeat(99)}"x"]}${closed}`);
      let decoded = 0;
      bytes.toString = (encoding, start = 0, end = bytes.length) => {
        decoded += end - start;
        return Buffer.prototype.toString.call(bytes, encoding, start, end);
      };
      const finder = new IdFinder(bytes, compiled, 100);
      assert.ok(new JsonScanner(bytes, { maxValues: 1_000 }, finder).advance());
      assert.equal(finder.found.length, 100);
      return decoded;
    };
    assert.ok(decodedIn('n') < 1_000);
    assert.ok(decodedIn('n'.repeat(998)) < 10_000);
    assert.ok(decodedIn('\\u006e'.repeat(990)) < 20_000);
  });

  it('are kept up to a limit, and more of them are said', () => {
    const bytes = Buffer.from(JSON.stringify({ file_ids: ['a', 'b', 'c'], more: { file_id: 'd' } }));
    const found = (maxIds: number) => {
      const finder = new IdFinder(bytes, compiled, maxIds);
      assert.ok(new JsonScanner(bytes, { maxValues: 100 }, finder).advance());
      return [finder.found.length, finder.isOverflown];
    };
    assert.deepEqual(
      [found(4), found(3), found(1)],
      [
        [4, false],
        [3, true],
        [1, true],
      ],
    );
  });
});
