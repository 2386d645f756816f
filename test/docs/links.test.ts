import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quotedWords } from './prose.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })].sort();

/** Past entries of the changelog name files of their time. */
const historical = new Set(['CHANGELOG.md']);

/** Folders whose paths are checked wherever a document names one in backticks. */
const folders = 'src|test|docs|commands|queries|projections|bench|deployment|examples|\\.ci';
const repositoryPath = new RegExp(`^(?:\\./)?(?:${folders})/[^\\s]*$`);

describe('documents', () => {
  it('lists every decision under its title in the index of decisions', () => {
    const index = readFileSync(join(root, 'docs/adr/README.md'), 'utf8');
    const rows = globSync('{,superseded/}[0-9]*.md', { cwd: join(root, 'docs/adr') }).map((file) => {
      const [, number, title] = /^# (\d+)\. (.+)$/m.exec(readFileSync(join(root, 'docs/adr', file), 'utf8')) ?? [];
      return `| ${number} | [${title}](${file}) |`;
    });
    assert.deepEqual(
      rows.filter((row) => !index.includes(row)),
      [],
    );
  });

  it('keeps superseded decisions, and no others, in a folder of their own', () => {
    const index = readFileSync(join(root, 'docs/adr/README.md'), 'utf8');
    const rows = Array.from(index.matchAll(/\]\((superseded\/)?\d[^)]+\) \| (superseded)?/g));
    assert.ok(rows.length > 100);
    assert.deepEqual(
      rows.filter(([, folder, status]) => (folder === undefined) !== (status === undefined)).map(([row]) => row),
      [],
    );
  });

  for (const document of documents) {
    it(`finds every file and heading that ${document} links to`, () => {
      assert.deepEqual(
        linksIn(document).filter((link) => !hasTarget(document, link)),
        [],
      );
    });

    it(`finds every file and folder that ${document} names`, () => {
      if (historical.has(document)) return;
      assert.deepEqual(
        pathsIn(document).filter((path) => !exists(path)),
        [],
      );
    });
  }
});

/** The relative targets of a document's links. */
function linksIn(document: string): ReadonlyArray<string> {
  const text = proseOf(document).replaceAll(/`[^`\n]*`/g, '');
  const inline = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)];
  const reference = [...text.matchAll(/^\s*\[[^\]]+\]:\s*<?([^\s>]+)>?/gm)];
  return [...inline, ...reference]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));
}

/** @param link may end in `#heading` */
function hasTarget(document: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const file = path === '' ? document : normalize(join(dirname(document), decodeURIComponent(path)));
  if (relative(root, join(root, file)).startsWith('..') || !existsSync(join(root, file))) return false;
  return heading === undefined || !file.endsWith('.md') || headingsOf(file).has(heading);
}

/** The anchors that GitHub gives a document's headings. */
function headingsOf(document: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(document).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, title = '']) => {
    const anchor = title
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, '')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  return new Set(anchors);
}

/** Every word in backquotes that looks like a path of this repository. */
function pathsIn(document: string): ReadonlyArray<string> {
  return quotedWords(proseOf(document)).filter((word) => repositoryPath.test(word));
}

/** Whether the file or folder exists; `<name>`, `*` and a file named `x` match any name, `{a,b}` matches each. */
function exists(path: string): boolean {
  const pattern = path
    .replaceAll(/<[^>]+>/g, '*')
    .replace(/\/x\./, '/*.')
    .replace(/\/$/, '');
  return /[*{]/.test(pattern) ? globSync(pattern, { cwd: root }).length > 0 : existsSync(join(root, pattern));
}

/** A document without its code blocks. */
function proseOf(document: string): string {
  return readFileSync(join(root, document), 'utf8').replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1.*$/gm, '');
}
