import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, trackedFiles } from './tracked-files.ts';

const productFile = /^(src|commands|queries|projections|examples)\/.*\.(ts|mjs)$/;
const exported =
  /^export (?:declare |abstract |async )*(?:class|const|enum|function\*?|interface|let|namespace|type) ([\w$]+)/gm;

describe('exported names', () => {
  it('are found whatever they name', () => {
    const source = [
      'export const one = 1;',
      'export async function* two() {}',
      'export abstract class Three {}',
      'export type Four<Item> = Item;',
      'export interface Five {}',
      "export { six } from './six.ts';",
      '  export const seven = 7;',
    ];
    assert.deepEqual([...exportedNames(source.join('\n'))], ['one', 'two', 'Three', 'Four', 'Five']);
  });

  it('mean one thing each: no two files of the product export the same name', () => {
    const files = trackedFiles().filter((file) => productFile.test(file));
    assert.ok(files.length > 500, `only ${files.length} files were found`);
    const declarations = files.flatMap((file) =>
      Array.from(exportedNames(readFileSync(join(root, file), 'utf8')), (name) => ({ name, file })),
    );
    const doubles = [...Map.groupBy(declarations, ({ name }) => name)]
      .filter(([, { length }]) => length > 1)
      .map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`);
    assert.deepEqual(doubles, []);
  });
});

/** A type and a constant of one name in one file count as one name. */
function exportedNames(source: string): ReadonlySet<string> {
  return new Set(Array.from(source.matchAll(exported), ([, name = '']) => name));
}
