import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { canonicalJson } from '#event-store/canonical-json.ts';

/** The example of RFC 8785, section 3.2.2. */
const rfcExample = `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
  "literals": [null, true, false]
}`;

describe('canonical JSON', () => {
  it('is that of the RFC', () => {
    assert.equal(
      canonicalJson(JSON.parse(rfcExample)),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts members by UTF-16 code units', () => {
    const members = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '10': 5, '9': 6, '😀': 7, ö: 8 };
    assert.equal(canonicalJson(members), '{"\\r":2,"1":4,"10":5,"9":6,"ö":8,"€":1,"😀":7,"\ufb33":3}');
  });

  it('agrees with the canonicalize package on every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => canonicalJson(value) === canonicalize(value)),
    );
  });

  it('is the same before and after storing what cannot be written as JSON', () => {
    const odd = { lone: '\ud800', infinite: Number.NEGATIVE_INFINITY, absent: undefined, list: [undefined, -0] };
    assert.equal(canonicalJson(odd), canonicalJson(JSON.parse(JSON.stringify(odd))));
  });
});
