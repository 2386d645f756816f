import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonScanner, lineAndColumn } from '#shared/json/json-scanner.ts';
import { itInRounds } from '#test/support/run/long.ts';

const scan = (text: string | Buffer, maxValues = 1_000_000) => {
  const scanner = new JsonScanner(Buffer.from(text as string), { maxValues });
  let slices = 1;
  while (!scanner.advance()) slices += 1;
  return { scanner, slices };
};

const isAccepted = (text: string) => scan(text).scanner.fault === null;

const isParsedByJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const countValues = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 1
    : Object.values(value).reduce((sum: number, inside) => sum + countValues(inside), 1);

/** JSON in several formats, and texts that are almost JSON. */
const json = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'))
  .map(([text, space]) => JSON.stringify(JSON.parse(text), null, space));
const piece = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '\\u00',
    '\\u00e9',
    '\\x',
    '-',
    '0',
    '01',
    '1.',
    '.5',
    '1e',
    'E+7',
    '9',
  ],
  ...[
    'true',
    'false',
    'null',
    'nul',
    'truex',
    ' ',
    '\n',
    '\r',
    '\t',
    '\f',
    '\u00a0',
    '\u0000',
    '\u001f',
    '\u007f',
    '\u00e9',
    '\ud83d\ude00',
  ],
);

describe('JsonScanner', () => {
  itInRounds(
    'accepts exactly the texts that JSON.parse accepts, be they valid, mutated or cut',
    { few: 500, many: 20_000 },
    (numRuns) => {
      const mutated = fc
        .tuple(json, fc.nat(), fc.nat(3), fc.array(piece, { maxLength: 3 }))
        .map(([text, at, length, pieces]) => {
          const start = at % (text.length + 1);
          return text.slice(0, start) + pieces.join('') + text.slice(start + length);
        });
      const cut = fc.tuple(json, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1)));
      const pieces = fc.array(piece, { maxLength: 12 }).map((all) => all.join(''));
      fc.assert(
        fc.property(fc.oneof(json, mutated, cut, pieces), (any) => {
          const text = any.toWellFormed();
          assert.equal(isAccepted(text), isParsedByJson(text), JSON.stringify(text));
        }),
        { numRuns },
      );
    },
  );

  it('counts every value once', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.json({ maxDepth: 3 }), { maxLength: 4 }), (texts) => {
        const text = `[${texts.join(',')}]`;
        assert.equal(scan(text).scanner.values, countValues(JSON.parse(text)));
      }),
    );
  });

  itInRounds(
    'reports a syntax error at the line and column that JSON.parse reports',
    { few: 300, many: 10_000 },
    (numRuns) => {
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
          const text = pieces.join('').toWellFormed();
          const { fault } = scan(text).scanner;
          const [, line, column] = /line (\d+) column (\d+)/.exec(messageOf(text)) ?? [];
          if (fault === null || line === undefined || text.includes('\r')) return;
          const place = lineAndColumn(Buffer.from(text), fault.offset);
          assert.equal(place.line, Number(line), JSON.stringify(text));
          // The scanner reports an invalid escape at its backslash.
          assert.ok(Math.abs(place.column - Number(column)) <= 6, JSON.stringify(text));
        }),
        { numRuns },
      );
    },
  );

  it('accepts at most 256 levels and as many values as are allowed', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    assert.equal(scan(nested(256)).scanner.fault, null);
    assert.deepEqual(scan(nested(257)).scanner.fault, { kind: 'too-deep', offset: 256 });
    assert.deepEqual(scan('['.repeat(1_000_000)).scanner.fault, { kind: 'too-deep', offset: 256 });
    assert.equal(scan(`["${'['.repeat(1_000)}\\"${'{'.repeat(1_000)}"]`).scanner.fault, null);
    assert.equal(scan('[1,2,{"a":3}]', 5).scanner.fault, null);
    assert.deepEqual(scan('[1,2,{"a":3}]', 4).scanner.fault, { kind: 'too-many-values', offset: 10 });
  });

  it('points at the first value beyond the limit', () => {
    const pointer = (text: string, maxValues: number) => scan(text, maxValues).scanner.pointer();
    assert.equal(pointer('[1]', 0), '');
    assert.equal(pointer('{"a":[0,{"b/~\\u0021":[7,8]}]}', 6), '/a/1/b~1~0!/1');
    assert.equal(pointer('{"a":{"x":1},"c":{}}', 3), '/c');
    assert.equal(pointer(`{"a":{"${'n'.repeat(5_000)}":1}}`, 2), '/a');
    assert.equal(pointer(`{"a":{"${'\\\\'.repeat(5_000)}":1}}`, 2), '/a');
  });

  it('reads at most 1 MiB and 16,384 values before it yields to other work', () => {
    const mebibyte = 1024 * 1024;
    const slicesOf = (text: string) => {
      const { scanner, slices } = scan(text, 10_000_000);
      assert.equal(scanner.fault, null);
      return slices;
    };
    assert.equal(slicesOf(`{"a":[{}${',{}'.repeat(16_000)}]}`), 1);
    for (const unit of ['x', '\\"', '\\u00e9', '\u00e9']) {
      const length = Math.ceil((8 * mebibyte) / Buffer.byteLength(unit));
      assert.ok(slicesOf(`{"a":"${unit.repeat(length)}"}`) >= 8, unit);
    }
    assert.ok(slicesOf(`{"a":${' '.repeat(8 * mebibyte)}1}`) >= 8);
    assert.ok(slicesOf(`{"a":[1${',1'.repeat(10 * 65_536)}]}`) >= 10);
    assert.ok(slicesOf(`{"a":1${',"b":[]'.repeat(10 * 65_536)}}`) >= 10);
  });
});

function messageOf(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}
