import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const guide = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8');

/** The lines of each file that the guide's diffs show, in order, without their sign. */
function linesByFile(text: string): ReadonlyArray<{ readonly file: string; readonly lines: ReadonlyArray<string> }> {
  const parts: { file: string; lines: string[] }[] = [];
  for (const [, diff = ''] of text.matchAll(/^```diff\n(.*?)^```$/gms)) {
    for (const line of diff.split('\n')) {
      if (line.startsWith('+++ b/')) parts.push({ file: line.slice('+++ b/'.length), lines: [] });
      else if (line !== '') parts.at(-1)?.lines.push(line.slice(1));
    }
  }
  return parts;
}

describe('the worked examples in CONTRIBUTING.md', () => {
  const parts = linesByFile(guide);

  it('shows the diffs of an operation, a read model, a process and a provider', () => {
    const files = new Set(parts.map(({ file }) => file.split('/').slice(0, 2).join('/')));
    for (const folder of ['commands/flow', 'projections/files', 'src/processes', 'src/gateway'])
      assert.ok(files.has(folder), folder);
    for (const { file, lines } of parts) assert.ok(lines.length > 0, `the diff of ${file} has no line`);
  });

  for (const { file, lines } of parts) {
    it(`shows lines of ${file} that the file has, in its order`, () => {
      const source = readFileSync(new URL(file, root), 'utf8').split('\n');
      let from = 0;
      for (const line of lines) {
        const found = source.indexOf(line, from);
        assert.notEqual(found, -1, `${file} has no line ${JSON.stringify(line)} after its line ${from}`);
        from = found + 1;
      }
    });
  }
});
