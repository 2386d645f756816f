import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownDigestKey } from '#app/verification/own-digest-key.ts';
import { createSigningKey, keyIdOf } from '#digests/digest-keys.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

describe('ownDigestKey', () => {
  let folder: TemporaryFolder;
  let lines: Array<readonly [object, string]>;
  beforeEach(() => {
    folder = temporaryFolder();
    lines = [];
  });
  afterEach(() => folder.remove());

  const file = () => join(folder.path, 'digest-key.pem');
  const keyFor = (newest: { readonly key: string } | null, accepted: ReadonlyArray<string> = []) =>
    ownDigestKey({
      file: file(),
      newest,
      accepted: new Set(accepted),
      log: { warn: (fields: object, message: string) => void lines.push([fields, message]) },
    });

  it('makes a key that only the owner may read, and says where it is and that it belongs elsewhere', () => {
    const key = keyFor(null) ?? assert.fail('no key was made');
    assert.equal(statSync(file()).mode & 0o777, 0o600);
    const [[fields, message] = assert.fail('nothing was logged')] = lines;
    assert.deepEqual(fields, { file: file() });
    assert.match(
      message,
      /made next to the data, where it proves little: move it elsewhere, and name it in DIGEST_SIGNING_KEY/,
    );
    assert.ok(!JSON.stringify(lines).includes(readFileSync(file(), 'utf8').split('\n')[1] ?? assert.fail()));
    assert.ok(!existsSync(`${file()}.new`));
    const again = keyFor({ key: keyIdOf(key) }) ?? assert.fail('the key is gone');
    assert.deepEqual([keyIdOf(again), lines.length], [keyIdOf(key), 1]);
  });

  it('makes none beside digests that another key has signed', () => {
    assert.equal(keyFor({ key: 'another' }), null);
    assert.ok(!existsSync(file()));
    assert.match(lines[0]?.[1] ?? '', /another key has signed those that are here/);
  });

  it('continues digests of a key that is accepted', () => {
    assert.ok(keyFor({ key: 'earlier' }, ['earlier']));
  });

  it('does not sign with its own key after digests of another one', () => {
    writeFileSync(file(), createSigningKey());
    assert.equal(keyFor({ key: 'another' }), null);
    assert.ok(keyFor(null));
  });

  it('stops the start for a damaged key, and keeps the file', () => {
    writeFileSync(file(), '-----BEGIN');
    assert.throws(() => keyFor(null), StartupError);
    assert.equal(readFileSync(file(), 'utf8'), '-----BEGIN');
    assert.throws(() => createPrivateKey(readFileSync(file())));
  });
});
