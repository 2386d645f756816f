import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { parseYaml, readYaml } from '#cli/gateway/litellm/read-yaml.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

const reasons = (text: string): ReadonlyArray<string> => {
  const read = parseYaml(text);
  return E.isLeft(read) ? read.left : assert.fail(`it was read as ${JSON.stringify(read.right)}`);
};

describe("the reader of LiteLLM's YAML", () => {
  it('reads values as YAML 1.1 does, and a day as a text', () => {
    const text = 'a: yes\nb: 3e-6\nc: 2025-01-01\nd: 010\ne: ~\nf: &f { x: 1 }\ng: { <<: *f, z: "2" }\n';
    assert.deepEqual(
      parseYaml(text),
      E.right({ a: true, b: 3e-6, c: '2025-01-01', d: 8, e: null, f: { x: 1 }, g: { x: 1, z: '2' } }),
    );
    assert.deepEqual(parseYaml(''), E.right(null));
  });

  it('names line and column of what is no YAML, and nothing of the text', () => {
    assert.deepEqual(reasons('a: 1\nkey: [sk-secret\nb: 2'), ['line 3, column 1: no valid YAML (bad indent)']);
    assert.deepEqual(reasons('a: 1\na: sk-secret'), ['line 2, column 1: no valid YAML (duplicate key)']);
    assert.deepEqual(reasons('a: 1\nb: *sk-secret'), ['line 2, column 4: an alias without its anchor']);
    assert.deepEqual(reasons('a: 1\n---\nb: 2'), ['line 2, column 1: no valid YAML (multiple docs)']);
  });

  it('refuses tags of its own and of languages', () => {
    const ownTag = 'line 1, column 4: a tag of its own, which is not read';
    assert.deepEqual(reasons('a: !secret sk-1'), [ownTag]);
    assert.deepEqual(reasons('a: !!python/object/apply:os.system [id]'), [ownTag]);
    assert.deepEqual(reasons('a: !!binary c2stMQ=='), [ownTag]);
  });

  it('refuses a small text that means a very large value', () => {
    const lines = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]`,
    );
    assert.deepEqual(reasons(['l0: &l0 [x]', ...lines].join('\n')), [
      'the aliases repeat too much, or there are too many levels',
    ]);
    assert.deepEqual(reasons('a: &a [*a]'), ['an anchor holds its own alias']);
    assert.match(reasons('['.repeat(100_000))[0] ?? '', /^line 1, column \d+: too many levels$/);
  });

  it('reads at most 1 MiB, and says why a file cannot be read', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'config.yaml');
    writeFileSync(file, `a: ${'x'.repeat(1024 * 1024)}`);
    assert.deepEqual(await readYaml(file), E.left([`the file has 1048579 bytes, and at most 1048576 are read`]));
    assert.deepEqual(await readYaml(join(folder.path, 'nothing')), E.left(['the file cannot be read (ENOENT)']));
    assert.deepEqual(await readYaml(folder.path), E.left(['the file cannot be read (EISDIR)']));
    folder.remove();
  });
});
