import assert from 'node:assert/strict';
import { acceptedType } from '#application/operations/accepted-type.ts';

const others = ['application/x-ndjson', 'text/csv'] as const;

describe('acceptedType', () => {
  for (const [accept, expected] of [
    [undefined, null],
    ['', null],
    ['*/*', null],
    ['application/json', null],
    ['text/html', null],
    ['text/csv', 'text/csv'],
    ['Text/CSV; charset=utf-8', 'text/csv'],
    ['application/x-ndjson, application/json;q=0.5', 'application/x-ndjson'],
    ['application/json, text/csv', null],
    ['application/json;q=0.2, text/csv;q=0.8', 'text/csv'],
    ['text/csv;q=0, application/x-ndjson;q=0.1', 'application/x-ndjson'],
    ['text/html, */*;q=0.1', null],
  ] as const)
    it(`chooses ${expected ?? 'JSON'} for Accept: ${accept ?? '(none)'}`, () => {
      assert.equal(acceptedType(accept, others), expected);
    });
});
