import assert from 'node:assert/strict';
import { SharedWords } from './shared-words.ts';

describe('SharedWords', () => {
  it('puts the test first that shares the rarest words with a file', () => {
    const tests = new SharedWords([
      { path: 'test/files.test.ts', text: 'const service = uploadFile();' },
      { path: 'test/keys.test.ts', text: 'const service = rotateKeys();' },
      { path: 'test/others.test.ts', text: 'const service = start();' },
    ]);
    const inOrder = tests.inOrderFor({ path: 'src/a.ts', text: 'const service = new KeyRotation(keys);' });
    assert.equal(inOrder[0], 'test/keys.test.ts');
  });

  it('lets words of the path count more', () => {
    const tests = new SharedWords([
      { path: 'test/texts.test.ts', text: 'first second' },
      { path: 'test/others.test.ts', text: 'stores third' },
      { path: 'test/none.test.ts', text: 'fourth' },
    ]);
    const inOrder = tests.inOrderFor({ path: 'src/stores.ts', text: 'first second' });
    assert.equal(inOrder[0], 'test/others.test.ts');
  });
});
