import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quotedWords } from './prose.ts';
import { root, trackedFiles } from './tracked-files.ts';

const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
/** Words in these files count as known names: of declarations, members, settings, headers and libraries' exports. */
const source = /(\.(ts|mjs|cjs|json|sh|ya?ml|grit|css|html|py)|^\.ci\/.*)$/;
const fileName = /^[\w./#<>*-]+\.(ts|mjs|cjs|md|json|grit)$/;
const name = /(?<![\w$'"/-])[A-Za-z_$][\w$]*/g;
const hasSeveralHumps = (word: string) => /[a-z\d][A-Z]/.test(word);

/** What comments may refer to. */
interface Known {
  readonly files: ReadonlyArray<string>;
  readonly words: ReadonlySet<string>;
  /** The numbers of decisions. */
  readonly decisions: ReadonlySet<string>;
}

describe('comments', () => {
  const files = trackedFiles();
  const known: Known = { files, words: wordsOf(files), decisions: decisionsIn(files) };

  it('are searched for names of files, declarations and decisions that do not exist', () => {
    const text = [
      '/** See `references.test.ts`, `docs/tracked-files.ts`, `trackedFiles` and `Known.words`. */',
      '// Without `no-such-file.ts`, {@link NoSuchName}, `NoSuchName.words` and ADR 9999.',
      "const url = 'https://example.com/`NoSuchPath`';",
    ];
    assert.deepEqual(staleReferences(text.join('\n'), known), [
      '2: no-such-file.ts',
      '2: NoSuchName',
      '2: NoSuchName',
      '2: ADR 9999',
    ]);
  });

  it('name files, declarations and decisions that exist', () => {
    const scripts = files.filter((file) => file.endsWith('.ts') && file !== 'test/docs/references.test.ts');
    assert.ok(scripts.length > 1000, `only ${scripts.length} files were found`);
    const stale = scripts.flatMap((file) =>
      staleReferences(readFileSync(join(root, file), 'utf8'), known).map((found) => `${file}:${found}`),
    );
    assert.deepEqual(stale, []);
  });
});

/** All words of the repository's code, without its comments. */
function wordsOf(files: ReadonlyArray<string>): ReadonlySet<string> {
  const words = new Set<string>();
  for (const file of files) {
    if (!source.test(file) || file === 'package-lock.json' || file === 'test/docs/references.test.ts') continue;
    const code = readFileSync(join(root, file), 'utf8').replaceAll(comment, '');
    for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g)) words.add(word);
  }
  return words;
}

function decisionsIn(files: ReadonlyArray<string>): ReadonlySet<string> {
  return new Set(files.flatMap((file) => /^docs\/adr\/(?:superseded\/)?0*(\d+)-/.exec(file)?.[1] ?? []));
}

/** @returns `line: reference` of each */
function staleReferences(text: string, known: Known): ReadonlyArray<string> {
  return Array.from(text.matchAll(comment)).flatMap(({ index, 0: found }) => {
    const line = text.slice(0, index).split('\n').length;
    return referencesIn(found)
      .filter((reference) => !exists(reference, known))
      .map((reference) => `${line}: ${reference}`);
  });
}

/** Of names only those that no word of the language looks like: with a capital letter inside. */
function referencesIn(text: string): ReadonlyArray<string> {
  const quoted = quotedWords(text).flatMap((word) => (fileName.test(word) ? [word] : namesIn(word)));
  const linked = Array.from(text.matchAll(/\{@link(?:code)? ([\w$]+)/g), ([, target = '']) => target);
  return [...quoted, ...linked, ...(text.match(/\bADR \d+/g) ?? [])];
}

function namesIn(word: string): ReadonlyArray<string> {
  return (word.match(name) ?? []).filter(hasSeveralHumps);
}

function exists(reference: string, { files, words, decisions }: Known): boolean {
  if (reference.startsWith('ADR ')) return decisions.has(reference.slice('ADR '.length));
  if (!fileName.test(reference)) return words.has(reference);
  const ending = reference
    .replace(/^[./#]+/, '')
    .replaceAll(/[.+]/g, '\\$&')
    .replaceAll(/<[^>]+>|\*/g, '.*');
  return files.some((file) => new RegExp(`(^|/)${ending}$`).test(file));
}
