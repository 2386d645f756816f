import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, trackedFiles } from './tracked-files.ts';

/**
 * Words that this project replaces with standard terms or plain ones, in names too: a name has its parts as words.
 */
const avoided = /\b(told|tells|stands|goes on|anew|at hand|nobody['’]s|mend(?:s|ed|ing)?|doors?|lanes?)\b/i;

/** Every line with an avoided word matches it, so most lines need no further check. */
const suspect = /told|tells|stands|goes|anew|hand|nobody|mend|door|lane/i;

/** Frozen events, output of other programs, and this list of words. */
const exempt =
  /^(test\/fixtures\/|test\/docs\/words\.test\.ts$|package-lock\.json$)|\.(png|jpe?g|gif|ico|wav|mp3|woff2?|gz)$/;

describe('words', () => {
  it('finds an avoided word in prose and in the names of every style', () => {
    const found = ['It goes on.', 'toldPositions', 'wasTold', 'ToldPositions', 'in-a-lane', 'MAX_LANES', 'bodyAtHand'];
    assert.deepEqual(
      found.filter((line) => avoidedWordIn(line) === null),
      [],
    );
  });

  it('finds no avoided word inside another word', () => {
    const clean = [
      'control-plane',
      'recommended',
      'understands',
      'outdoors',
      'on the other hand',
      'handed',
      'ControlPlane',
    ];
    assert.deepEqual(
      clean.filter((line) => avoidedWordIn(line) !== null),
      [],
    );
  });

  it('no tracked file has an avoided word in its name or its text', () => {
    const files = trackedFiles().filter((file) => !exempt.test(file));
    assert.ok(files.length > 500, `only ${files.length} files were found`);
    assert.deepEqual(files.flatMap(findings), []);
  });
});

/** Each avoided word of a file, as `file:line: word`; line 0 is the file's name. */
function findings(file: string): ReadonlyArray<string> {
  const text = readFileSync(join(root, file), 'utf8');
  if (text.includes('\0')) return [];
  const current = file === 'CHANGELOG.md' ? unreleased(text) : text;
  return [file, ...current.split('\n')].flatMap((line, number) => {
    const word = avoidedWordIn(line);
    return word === null ? [] : [`${file}:${number}: ${word}`];
  });
}

/** The changelog without the entries of releases, which stay as they were published. */
function unreleased(changelog: string): string {
  return changelog.split(/^## (?!Unreleased)/m, 1)[0] ?? '';
}

/**
 * The first avoided word of a line, also as a part of a camelCase, kebab-case or SNAKE_CASE name; null if there is
 * none.
 */
function avoidedWordIn(line: string): string | null {
  if (!suspect.test(line)) return null;
  const words = line.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[-_]/g, ' ');
  return avoided.exec(words)?.[0] ?? null;
}
