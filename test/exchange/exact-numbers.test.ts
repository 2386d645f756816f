import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inexactIntegers } from '#exchange/json-body.ts';

describe('inexactIntegers', () => {
  const pointers = async (text: string) => (await inexactIntegers(Buffer.from(text))).map(({ pointer }) => pointer);

  it('points at each integer that JSON gives back with other digits', async () => {
    const text = '{"é":[1,{"a/b":9007199254740993}],"-":-9007199254740993,"x":1234567890123456789012}';
    assert.deepEqual(await pointers(text), ['/é/1/a~1b', '/-', '/x']);
  });

  for (const text of [
    '12345678901234567000',
    '9007199254740992',
    '-9007199254740994',
    '1000000000000000000000',
    '1234567890123456800000',
    '1234567890123456789012e0',
    '9007199254740993.0',
    '1234567890.1234567890123456789',
    '1e3',
    '1.0',
    '-0',
    '"9007199254740993"',
    '{"9007199254740993":1}',
    `1${'0'.repeat(400)}`,
  ])
    it(`takes ${text.slice(0, 40)}`, async () => {
      assert.deepEqual(await pointers(`{"a":${text}}`), []);
    });

  it('takes whatever JSON has written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.double({ noNaN: true, noDefaultInfinity: true }), async (value, number) => {
        assert.deepEqual(await pointers(JSON.stringify({ value, number, whole: Math.trunc(number) })), []);
      }),
    );
  });

  it('reports at most 100 integers', async () => {
    assert.equal((await pointers(`[${Array(1_000).fill('9007199254740993').join(',')}]`)).length, 100);
  });
});
