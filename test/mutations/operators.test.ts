import assert from 'node:assert/strict';
import { changed, changesOf, parse } from './operators.ts';

/** All texts that an operator makes of a piece of code. */
function made(operator: string, code: string): ReadonlyArray<string> {
  const changes = changesOf(parse('code.ts', code)).filter((change) => change.operator === operator);
  return changes.map((change) => changed(code, change));
}

const examples: ReadonlyArray<readonly [operator: string, code: string, ...made: string[]]> = [
  ['negate a condition', 'if (a) b(); else c();', 'if (!(a)) b(); else c();'],
  ['negate a condition', 'const a = b ? 1 : 2;', 'const a = !(b) ? 1 : 2;'],
  ['move a bound', 'a < b && c >= d', 'a <= b && c >= d', 'a < b && c > d'],
  ['swap an equality', 'a === b', 'a !== b'],
  ['swap and with or', 'a && b || c', 'a || b || c', 'a && b && c'],
  ['swap an arithmetic operator', 'a + b * c', 'a - b * c', 'a + b / c'],
  ['swap an arithmetic operator', 'a -= b', 'a += b'],
  ['drop a fallback', 'const a = b ?? c;', 'const a = b;'],
  ['drop a negation', 'return_(!a)', 'return_(a)'],
  ['drop a question mark of a chain', 'a?.b', 'a.b'],
  ['remove a call', 'a();', ';'],
  ['empty a block', 'function a() { return b; }', 'function a() {}'],
  ['change a number', 'const a = 0;', 'const a = 1;'],
  ['change a text', "a('b')", "a('')"],
  ['change a text', "a('')", "a('changed')"],
  ['swap true with false', 'a(true, false)', 'a(false, false)', 'a(true, true)'],
  ['drop the last element of a list', 'const a = [b, c];', 'const a = [b];'],
  ['drop the last element of a list', 'const a = [b, c,];', 'const a = [b,];'],
  ['drop the last element of a list', 'const a = [b];', 'const a = [];'],
];

describe('operators of mutations', () => {
  for (const [operator, code, ...expected] of examples)
    it(`${operator}: ${code} becomes ${expected.join(' or ')}`, () => {
      assert.deepEqual(made(operator, code), expected);
    });

  it('leave types, imports and names alone', () => {
    const code = "import a from 'a'; export * from 'b'; type C = 'c' | 1 | true; interface D { e: ['f'] }";
    assert.deepEqual(changesOf(parse('code.ts', code)), []);
    assert.deepEqual(made('change a text', "const a = { 'b-c': d };"), []);
  });

  it('leave calls of a constructor of a super class, which throws without them', () => {
    assert.deepEqual(made('remove a call', 'class A extends B { constructor() { super(); } }'), []);
  });

  it('refuse a change that makes text without a meaning', () => {
    const change = { operator: 'none', start: 0, end: 1, replacement: '(' };
    assert.throws(() => changed('a', change), /does not parse/);
  });
});
