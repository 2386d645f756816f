import assert from 'node:assert/strict';
import { generateKey } from '#application/commands/new-values.ts';
import { faultOfKeyText, maxKeyCharacters } from '#domain/api-key/secret.ts';
import { adminKey } from '#test/support/service/admin-key.ts';

describe('faultOfKeyText', () => {
  it('accepts a key that generateKey makes', () => {
    for (let count = 0; count < 1_000; count += 1) assert.equal(faultOfKeyText(generateKey()), null);
  });

  it('accepts a key of random hexadecimal digits', () => {
    assert.equal(faultOfKeyText('sy_live_9f86d081884c7d659a2feaa0c55ad015'), null);
  });

  it('accepts a key up to the maximum length that is looked up, and no longer one', () => {
    assert.equal(faultOfKeyText(adminKey.padEnd(maxKeyCharacters, 'abcdefgh12')), null);
    assert.match(faultOfKeyText(adminKey.padEnd(maxKeyCharacters + 1, 'x')) ?? '', /at most 256 characters, has 257$/);
  });

  it('rejects a key that repeats a few characters', () => {
    for (const few of ['x', 'ab', 'Bench'])
      assert.match(faultOfKeyText(`sy_live_${few.repeat(32)}`) ?? '', /^must be random/);
  });

  it('rejects a key of another form', () => {
    for (const text of ['', 'sy_live_', adminKey.slice(1), `${adminKey}-`, `${adminKey}\n`, adminKey.slice(0, 39)])
      assert.match(faultOfKeyText(text) ?? '', /^must be sy_live_ and at least 32 letters and digits$/);
  });
});
