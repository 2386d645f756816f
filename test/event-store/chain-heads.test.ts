import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ChainHeads } from '#event-store/chain-heads.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

describe('ChainHeads', () => {
  it('returns the last head of each of thousands of streams, in the order of their first heads', () => {
    const heads = new ChainHeads();
    const streams = Array.from({ length: 5000 }, (_, number) => `flow-${number}`);
    for (const stream of streams) heads.set(stream, { revision: 0, hash: hashOf(stream) });
    for (const stream of streams.slice(0, 100)) heads.set(stream, { revision: 2 ** 40, hash: hashOf(`${stream}b`) });
    assert.equal(heads.size, 5000);
    assert.deepEqual([...heads.streams()], streams);
    assert.deepEqual(heads.get('flow-7'), { revision: 2 ** 40, hash: hashOf('flow-7b') });
    assert.deepEqual(heads.get('flow-4999'), { revision: 0, hash: hashOf('flow-4999') });
    assert.equal(heads.get('flow-5000'), undefined);
  });

  it('keeps a text that is not a SHA-256 in lower-case hex unchanged', () => {
    const heads = new ChainHeads();
    const odd = [
      null,
      '',
      'abc',
      hashOf('a').toUpperCase(),
      `${hashOf('a')}0`,
      `${hashOf('a').slice(1)}g`,
      'ü'.repeat(64),
    ];
    for (const [index, hash] of odd.entries()) {
      heads.set('flow-1', { revision: index, hash });
      assert.deepEqual(heads.get('flow-1'), { revision: index, hash });
    }
    heads.set('flow-1', { revision: 9, hash: hashOf('b') });
    assert.deepEqual(heads.get('flow-1'), { revision: 9, hash: hashOf('b') });
  });
});
