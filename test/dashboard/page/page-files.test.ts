import assert from 'node:assert/strict';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type PageFiles, readPageFiles } from '#dashboard/page-files.ts';

/** The maximum bytes of the page's scripts, in the larger of the two compressed forms. */
const maxScriptBytes = 133_000;

describe('readPageFiles', () => {
  let page: PageFiles;
  before(async () => {
    page = await readPageFiles();
  });

  it('serves scripts of less than 133 kB in all, compressed', () => {
    const scripts = page.files.filter(({ name }) => name.endsWith('.js'));
    assert.equal(scripts.length, 6);
    for (const compress of [brotliCompressSync, gzipSync]) {
      const bytes = scripts.map(({ text }) => compress(Buffer.from(text)).length).reduce((sum, each) => sum + each, 0);
      assert.ok(bytes < maxScriptBytes, `${bytes} bytes`);
    }
  });

  it('sends browsers no types, no inline styles and no addresses of other sites', () => {
    for (const { name, text } of page.files) {
      assert.doesNotMatch(text, /\bimport type\b|\binterface \w+ \{/, name);
      assert.doesNotMatch(text, /<[a-z]+ [^>]*\bstyle="/, name);
      if (!name.startsWith('vendor.')) assert.doesNotMatch(text, /https?:\/\/\w(?!ww\.w3\.org\/2000\/svg)/, name);
    }
  });

  it('resolves every import to a file in the same folder', () => {
    const names = new Set(page.files.map(({ name }) => name));
    for (const { name, text } of page.files.filter((file) => file.name.endsWith('.js'))) {
      for (const [, specifier] of text.matchAll(/\bfrom\s*['"]([^'"]+)['"]/g)) {
        assert.ok(specifier?.startsWith('./') && names.has(specifier.slice(2)), `${name} imports ${specifier}`);
      }
    }
  });

  it('gives equal files the same hash', async () => {
    assert.equal((await readPageFiles()).hash, page.hash);
  });
});
