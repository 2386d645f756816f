import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { SealedText } from '#domain/shared/personal-data.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';

describe('PersonalData', () => {
  let data: PersonalData;
  beforeEach(() => {
    data = new PersonalData(new InMemorySubjectKeys());
  });

  const bytesOf = ({ ciphertext }: SealedText) => Buffer.from(ciphertext, 'base64url');

  it('reads any sealed text back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string(), async (name, address) => {
        const sealed = await data.seal('one', { name, address });
        const read = await data.readerOf(['one']);
        assert.equal(read('one', 'name', sealed.name), name);
        assert.equal(read('one', 'address', sealed.address), address);
      }),
      { numRuns: 50 },
    );
  });

  it('seals a text differently each time, and shows nothing of it', async () => {
    const { a } = await data.seal('one', { a: 'Ada Lovelace' });
    const { a: again } = await data.seal('one', { a: 'Ada Lovelace' });
    assert.notEqual(a.ciphertext, again.ciphertext);
    assert.ok(!bytesOf(a).includes('Ada'));
    assert.notDeepEqual(bytesOf(a).subarray(0, 12), bytesOf(again).subarray(0, 12));
  });

  it('rejects a sealed text under another field or subject, or when it was changed', async () => {
    const { name } = await data.seal('one', { name: 'Ada Lovelace' });
    await data.seal('two', { name: 'Grace Hopper' });
    const read = await data.readerOf(['one', 'two']);
    assert.throws(() => read('one', 'clientEmail', name));
    assert.throws(() => read('two', 'name', name));
    for (const at of [0, 12, 27, -1]) {
      const bytes = bytesOf(name);
      const index = at < 0 ? bytes.length + at : at;
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      assert.throws(() => read('one', 'name', { ciphertext: bytes.toString('base64url') }), `byte ${at}`);
    }
    for (const length of [0, 5, 20]) {
      const ciphertext = bytesOf(name).subarray(0, length).toString('base64url');
      assert.throws(() => read('one', 'name', { ciphertext }), `${length} bytes`);
    }
  });

  it('reads a text as erased for ever once its key is destroyed', async () => {
    const { name } = await data.seal('one', { name: 'Ada Lovelace' });
    await data.erase('one');
    await data.erase('one');
    const read = await data.readerOf(['one']);
    assert.equal(read('one', 'name', name), 'erased');
    await assert.rejects(data.seal('one', { name: 'Ada Lovelace' }), /was erased/);
    assert.equal(await data.keyedHash('one', 'input'), '');
  });

  it('returns a text that was never sealed unchanged', async () => {
    const read = await data.readerOf([]);
    assert.equal(read('one', 'name', 'Northwind Voice'), 'Northwind Voice');
  });

  it('hashes a text with the subject’s key', async () => {
    const hash = await data.keyedHash('one', 'input');
    assert.match(hash, /^[0-9a-f]{64}$/);
    assert.equal(await data.keyedHash('one', 'input'), hash);
    assert.notEqual(await data.keyedHash('one', 'other'), hash);
    assert.notEqual(await data.keyedHash('two', 'input'), hash);
  });
});
