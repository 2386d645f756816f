import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { long } from '#test/support/run/long.ts';
import { RepositoryCopy } from '#test/support/service/repository-copy.ts';

const root = new URL('../../', import.meta.url);
const guide = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8');

/** The bounds of the examples that are made up: how many files such a change may touch. */
const maxFiles: Readonly<Record<string, number>> = {
  'Add a field to a flow': 8,
  'Add a kind of provider': 3,
  'Add a provider protocol': 9,
  'Add an endpoint that is relayed whole': 4,
  'Add a client protocol': 8,
};

/** The diffs below one heading of the guide. */
interface Example {
  readonly heading: string;
  readonly diffs: string;
}

function examplesIn(text: string): ReadonlyArray<Example> {
  return text.split(/^### /m).flatMap((section) => {
    const diffs = Array.from(section.matchAll(/^```diff\n(.*?)^```$/gms), ([, diff = '']) => diff).join('');
    return diffs === '' ? [] : [{ heading: section.slice(0, section.indexOf('\n')), diffs }];
  });
}

const examples = examplesIn(guide);
/** A diff with places of lines can be applied. Without them it shows lines that the files have. */
const isMadeUp = ({ diffs }: Example) => /^@@ /m.test(diffs);

/** The lines of each file that diffs show, in order, without their sign. */
function linesByFile(diffs: string): ReadonlyArray<{ readonly file: string; readonly lines: ReadonlyArray<string> }> {
  const parts: { file: string; lines: string[] }[] = [];
  for (const line of diffs.split('\n')) {
    if (line.startsWith('+++ b/')) parts.push({ file: line.slice('+++ b/'.length), lines: [] });
    else if (line !== '') parts.at(-1)?.lines.push(line.slice(1));
  }
  return parts;
}

describe('the worked examples of existing code in CONTRIBUTING.md', () => {
  const parts = examples.filter((example) => !isMadeUp(example)).flatMap(({ diffs }) => linesByFile(diffs));

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

/** A file after the change of an example. */
interface ChangedFile {
  readonly file: string;
  readonly text: string;
}

function changedFiles({ diffs }: Example): ReadonlyArray<ChangedFile> {
  return parsePatch(diffs).map((patch) => ({ file: fileOf(patch), text: changed(patch) }));
}

function fileOf({ newFileName = '' }: StructuredPatch): string {
  return newFileName.replace(/^b\//, '');
}

function changed(patch: StructuredPatch): string {
  const file = fileOf(patch);
  const path = new URL(file, root);
  const isNew = patch.oldFileName === '/dev/null';
  assert.equal(existsSync(path), !isNew, `${file} ${isNew ? 'exists already' : 'does not exist'}`);
  const text = applyPatch(isNew ? '' : readFileSync(path, 'utf8'), patch);
  return text === false ? assert.fail(`the diff of ${file} does not fit the file`) : text;
}

/** A test that runs in the copy, and calls what the example adds. */
function callOf({ heading }: Example): string {
  return `test/docs/made-up-examples/${heading.toLowerCase().replaceAll(' ', '-')}.ts`;
}

describe('the worked examples of made-up code in CONTRIBUTING.md', () => {
  const madeUp = examples.filter(isMadeUp);

  it('has a bound and a call for each', () => {
    const headings = madeUp.map(({ heading }) => heading);
    assert.deepEqual(headings.toSorted(), Object.keys(maxFiles).toSorted());
    const calls = readdirSync(new URL('test/docs/made-up-examples', root));
    assert.deepEqual(calls.map((file) => `test/docs/made-up-examples/${file}`).sort(), madeUp.map(callOf).sort());
  });

  for (const example of madeUp) {
    const bound = maxFiles[example.heading] ?? 0;

    it(`fits the files, of which it changes at most ${bound}: ${example.heading}`, () => {
      const files = new Set(changedFiles(example).map(({ file }) => file));
      assert.ok(files.size <= bound, `${files.size} files: ${[...files].join(', ')}`);
    });

    it(`has valid types and works in a copy of this repository: ${example.heading} ${long}`, async function () {
      this.timeout(300_000);
      await using copy = await RepositoryCopy.make();
      for (const { file, text } of changedFiles(example)) await copy.write(file, text);
      const call = callOf(example);
      const folders = ['src', 'commands', 'queries', 'projections'];
      await copy.write(
        'tsconfig.call.json',
        JSON.stringify({ extends: './tsconfig.json', include: [...folders, call] }),
      );
      for (const project of ['tsconfig.call.json', 'src/dashboard/page'])
        await succeed(copy, 'node_modules/typescript/bin/tsc', ['--noEmit', '-p', project]);
      await succeed(copy, 'node_modules/mocha/bin/mocha.js', ['--no-parallel', call]);
    });
  }
});

async function succeed(copy: RepositoryCopy, program: string, args: ReadonlyArray<string>): Promise<void> {
  const { code, output } = await copy.run(program, args);
  assert.equal(code, 0, output);
}
