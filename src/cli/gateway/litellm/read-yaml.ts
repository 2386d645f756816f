import { readFile, stat } from 'node:fs/promises';
import * as E from 'fp-ts/lib/Either.js';
import { type Document, LineCounter, parseDocument, type Tags, visit } from 'yaml';
import { type Json, parsedJson } from '#shared/json/json.ts';

const maxBytes = 1024 * 1024;
/** Maximum number of values that aliases repeat, so that a small file cannot become a very large value. */
const maxAliasCount = 100;
const maxListedErrors = 5;

/** Types of YAML 1.1 that JSON does not have. Their plain texts stay texts: `api_version: 2024-02-01`. */
const foreignTypes = new Set(
  ['binary', 'omap', 'pairs', 'set', 'timestamp'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Reads YAML 1.1, as for LiteLLM's reader (PyYAML).
 * @returns why it cannot be read, as sentences without their full stops; they never hold texts of the file
 */
export async function readYaml(path: string): Promise<E.Either<ReadonlyArray<string>, Json>> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) return E.left([`the file has ${size} bytes, and at most ${maxBytes} are read`]);
    return parseYaml(await readFile(path, 'utf8'));
  } catch (error) {
    return E.left([
      `the file cannot be read (${error instanceof Error && 'code' in error ? error.code : 'unknown reason'})`,
    ]);
  }
}

/** See `readYaml`. */
export function parseYaml(text: string): E.Either<ReadonlyArray<string>, Json> {
  const lineCounter = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  // The library's own messages show lines of the file, which may hold keys.
  const document = parseDocument(text, {
    version: '1.1',
    prettyErrors: false,
    lineCounter,
    customTags: withoutForeign,
  });
  const faults = [...document.errors, ...document.warnings]
    .toSorted((one, other) => one.pos[0] - other.pos[0])
    .map(({ code, pos: [offset] }) => `${at(offset)}: ${nameOf(code)}`);
  const all = [...faults, ...unknownAliases(document, at)];
  if (all.length > 0) return E.left(shortened(all));
  return treeOf(document);
}

function withoutForeign(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || !foreignTypes.has(tag.tag));
}

function nameOf(code: string): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'a tag of its own, which is not read';
  if (code === 'RESOURCE_EXHAUSTION') return 'too many levels';
  return `no valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`;
}

function unknownAliases(document: Document.Parsed, at: (offset: number) => string): ReadonlyArray<string> {
  const found: string[] = [];
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) === undefined)
        found.push(`${at(alias.range?.[0] ?? 0)}: an alias without its anchor`);
    },
  });
  return found;
}

function shortened(faults: ReadonlyArray<string>): ReadonlyArray<string> {
  const more = faults.length - maxListedErrors;
  return more <= 0 ? faults : [...faults.slice(0, maxListedErrors), `${more} more`];
}

/** A tree in which no value is shared, and none holds itself. */
function treeOf(document: Document.Parsed): E.Either<ReadonlyArray<string>, Json> {
  try {
    return E.right(parsedJson(JSON.stringify(document.toJS({ maxAliasCount })) ?? 'null') ?? null);
  } catch (error) {
    const holdsItself = error instanceof TypeError;
    return E.left([
      holdsItself ? 'an anchor holds its own alias' : 'the aliases repeat too much, or there are too many levels',
    ]);
  }
}
