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

  it('reads a sealed text as erased under another field or subject, or when it was changed', async () => {
    const { name } = await data.seal('one', { name: 'Ada Lovelace' });
    await data.seal('two', { name: 'Grace Hopper' });
    const read = await data.readerOf(['one', 'two']);
    assert.equal(read('one', 'clientEmail', name), 'erased');
    assert.equal(read('two', 'name', name), 'erased');
    for (const at of [0, 12, 27, -1]) {
      const bytes = bytesOf(name);
      const index = at < 0 ? bytes.length + at : at;
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      assert.equal(read('one', 'name', { ciphertext: bytes.toString('base64url') }), 'erased', `byte ${at}`);
    }
    for (const length of [0, 5, 20]) {
      const ciphertext = bytesOf(name).subarray(0, length).toString('base64url');
      assert.equal(read('one', 'name', { ciphertext }), 'erased', `${length} bytes`);
    }
    assert.equal(read('one', 'name', name), 'Ada Lovelace');
  });

  it('logs one error line for a subject whose texts cannot be opened', async () => {
    const logged: object[] = [];
    const keys = new InMemorySubjectKeys();
    data = new PersonalData(keys, { error: (fields: object) => void logged.push(fields) });
    const { name, address } = await data.seal('one', { name: 'Ada Lovelace', address: 'London' });
    keys.secrets.set('one', new Uint8Array(32).fill(1));
    for (let time = 0; time < 2; time += 1) {
      const read = await data.readerOf(['one']);
      assert.deepEqual([read('one', 'name', name), read('one', 'address', address)], ['erased', 'erased']);
    }
    assert.deepEqual(logged, [{ subject: 'one' }]);
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
