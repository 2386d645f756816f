import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { canonicalJson } from '#shared/json/json.ts';

describe('The canonical JSON of a value', () => {
  it('follows RFC 8785 for any JSON object', () => {
    const members = fc.dictionary(fc.oneof(fc.string({ unit: 'binary' }), fc.nat().map(String)), fc.jsonValue());
    fc.assert(
      fc.property(members, (value) => {
        const parsed = JSON.parse(JSON.stringify(value)) as object;
        if (!JSON.stringify(parsed).includes('\\ud')) assert.equal(canonicalJson(parsed), canonicalize(parsed));
      }),
    );
  });

  it('has the members in the order of their code units, even members named like numbers', () => {
    const value = { '9': 1, '10': 2, é: 3, '\u{1f600}': 4, '\ufb33': 5, a: { z: [{ b: 1, a: 2 }], y: null } };
    assert.equal(
      canonicalJson(value),
      '{"10":2,"9":1,"a":{"y":null,"z":[{"a":2,"b":1}]},"é":3,"\u{1f600}":4,"\ufb33":5}',
    );
  });

  it('writes numbers and texts as RFC 8785 does', () => {
    assert.equal(
      canonicalJson({ n: [1e21, 0.1, 1e30, 4.5, 2e-3, 1e-27, -0], s: '\u20ac$\u000f\nA\'B"\\/' }),
      '{"n":[1e+21,0.1,1e+30,4.5,0.002,1e-27,0],"s":"€$\\u000f\\nA\'B\\"\\\\/"}',
    );
  });

  it('keeps a text that looks like the escape of a surrogate', () => {
    assert.equal(canonicalJson({ a: '\\ud800' }), '{"a":"\\\\ud800"}');
  });

  it('exists for values that are nested deeper than the stack allows', () => {
    const depth = 100_000;
    const deep = JSON.parse(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`) as object;
    assert.equal(canonicalJson(deep).length, 2 * depth + '{"a":}'.length);
  });

  for (const [what, value] of [
    ['a lone surrogate in a text', { a: '\ud800' }],
    ['a lone surrogate in a name', { '\udc00': 1 }],
    ['a number that is not finite', { a: [Number.POSITIVE_INFINITY] }],
  ] as const)
    it(`does not exist for ${what}`, () => {
      assert.throws(() => canonicalJson(value));
    });
});
