import { posix } from 'node:path';
import ts from 'typescript';
import type { Source } from './choose.ts';
import { SharedWords } from './shared-words.ts';

/** A test file that loads a file, over as many imports as its distance says. */
export interface Importer {
  readonly path: string;
  readonly bytes: number;
  readonly distance: number;
}

/** What tests start in another process. */
const service = 'src/main.ts';
/** Tests that start processes or read the whole repository. */
const costly = /^test\/(e2e|clients|cli|deployment|dashboard\/browser|docs|soak|worlds)\//;
/** Files that code names without a static import: imported later, or for threads and processes. A folder is its files. */
const namedFiles = /(?<!from )'((?:#|\.{1,2}\/)[^']+\.m?[jt]s|(?:\.\.\/)+src\/[^'.]+)'/g;
const titles = /\bit\('([^']+)'/g;

/** Which test files load which files. */
export class ImportGraph {
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #importers = new Map<string, string[]>();
  readonly #words: SharedWords;

  /** @param aliases `imports` of package.json */
  constructor(sources: ReadonlyArray<Source>, aliases: Readonly<Record<string, string>>) {
    this.#sources = new Map(sources.map((source) => [source.path, source]));
    this.#words = new SharedWords(sources.filter(({ path }) => isTest(path)));
    const folders = Map.groupBy(this.#sources.keys(), posix.dirname);
    for (const source of sources)
      for (const specifier of specifiersOf(source)) {
        const path = resolved(specifier, source.path, aliases);
        for (const imported of folders.get(path) ?? [path])
          this.#importers.set(imported, [...(this.#importers.get(imported) ?? []), source.path]);
      }
  }

  /** The test files that load a file in their own process, those first that are most likely to test it. */
  testsOf(file: string): ReadonlyArray<string> {
    const nearness = ({ path, distance }: Importer) => distance - sharedFolders(file, path);
    const mirror = mirrorOf(file);
    return this.#importersOf(file, (path) => path !== service)
      .filter(({ path }) => !costly.test(path))
      .sort(
        (one, other) =>
          Number(other.path === mirror) - Number(one.path === mirror) ||
          nearness(one) - nearness(other) ||
          one.bytes - other.bytes,
      )
      .map(({ path }) => path);
  }

  /** The other test files that load a file. Most start a service, so imports do not tell which one is about the file. */
  costlyTestsOf(file: string): ReadonlyArray<string> {
    const near = new Set(this.testsOf(file));
    const tests = this.#importersOf(file, () => true).map(({ path }) => path);
    return this.alikeFirst(
      file,
      tests.filter((path) => !near.has(path)),
    );
  }

  /** Puts the test files first that share most words with a file. */
  alikeFirst(file: string, tests: ReadonlyArray<string>): ReadonlyArray<string> {
    const source = this.#sources.get(file);
    const inOrder = source ? this.#words.inOrderFor(source) : [];
    return inOrder.filter((test) => tests.includes(test));
  }

  /** The titles of tests in a test file. */
  titlesIn(test: string): ReadonlyArray<string> {
    const text = this.#sources.get(test)?.text ?? '';
    return [...text.matchAll(titles)].map(([, title]) => title ?? '');
  }

  /** @param isFollowed whether what loads a file counts, too */
  #importersOf(file: string, isFollowed: (path: string) => boolean): Importer[] {
    const distances = new Map([[file, 0]]);
    for (const [path, distance] of distances)
      for (const importer of isFollowed(path) ? (this.#importers.get(path) ?? []) : [])
        if (!distances.has(importer)) distances.set(importer, distance + 1);
    return [...distances]
      .filter(([path]) => isTest(path))
      .map(([path, distance]) => ({ path, distance, bytes: this.#sources.get(path)?.text.length ?? 0 }));
  }
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** The test file with the path of a source file. */
function mirrorOf(file: string): string {
  return `test/${file.replace(/^src\//, '').replace(/\.m?ts$/, '')}.test.ts`;
}

/** The folders that the paths of a file and of its test begin with. */
function sharedFolders(file: string, test: string): number {
  const folders = posix.dirname(mirrorOf(file)).split('/').slice(1);
  const others = posix.dirname(test).split('/').slice(1);
  const different = folders.findIndex((folder, index) => folder !== others[index]);
  return different === -1 ? folders.length : different;
}

function specifiersOf({ path, text }: Source): ReadonlyArray<string> {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const imported = statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement))
      return statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? [] : [statement.moduleSpecifier];
    return ts.isExportDeclaration(statement) && !statement.isTypeOnly ? [statement.moduleSpecifier] : [];
  });
  const literals = imported.filter((specifier) => specifier !== undefined && ts.isStringLiteral(specifier));
  return [...literals.map((literal) => literal.text), ...[...text.matchAll(namedFiles)].map(([, name]) => name ?? '')];
}

function resolved(specifier: string, from: string, aliases: Readonly<Record<string, string>>): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  for (const [alias, target] of Object.entries(aliases)) {
    const prefix = alias.slice(0, -1);
    if (specifier.startsWith(prefix)) return posix.join(target.slice(0, -1), specifier.slice(prefix.length));
  }
  return specifier;
}
