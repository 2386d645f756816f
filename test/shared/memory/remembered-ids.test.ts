import assert from 'node:assert/strict';
import { RememberedIds } from '#shared/memory/remembered-ids.ts';

describe('RememberedIds', () => {
  it('remembers the ids of an owner while another one adds thousands', () => {
    const ids = new RememberedIds(100);
    for (let index = 0; index < 10; index += 1) ids.add('quiet', `quiet ${index}`);
    for (let index = 0; index < 5_000; index += 1) ids.add('busy', `busy ${index}`);
    for (let index = 0; index < 10; index += 1) assert.ok(ids.has(`quiet ${index}`));
    assert.ok(ids.has('busy 4999'));
    assert.ok(!ids.has('busy 4000'));
  });

  it('remembers no more than its limit, and the newest of many owners with one id each', () => {
    const ids = new RememberedIds(100);
    for (let index = 0; index < 500; index += 1) ids.add(`owner ${index}`, `id ${index}`);
    const remembered = Array.from({ length: 500 }, (_, index) => index).filter((index) => ids.has(`id ${index}`));
    assert.deepEqual([remembered.length, remembered[0]], [100, 400]);
  });
});
