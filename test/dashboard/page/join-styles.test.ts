import assert from 'node:assert/strict';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { joinStyles } from '#dashboard/join-styles.ts';
import { pageFolder } from '#dashboard/page-files.ts';

describe('joinStyles', () => {
  const sheets = new Map<string, string>();
  before(async () => {
    for await (const path of glob('**/*.css', { cwd: join(pageFolder, 'styles') })) sheets.set(path, `/* ${path} */`);
  });

  it('joins every style sheet once, the tokens first and the changes of the design last', () => {
    const joined = joinStyles(sheets);
    const paths = [...joined.matchAll(/\/\* (\S+) \*\//g)].map(([, path]) => path);
    assert.deepEqual(paths.toSorted(), [...sheets.keys()].toSorted());
    assert.deepEqual([paths[0], paths.at(-1)], ['tokens.css', 'page.css']);
  });

  it('refuses a style sheet without a place in the order, and a missing one', () => {
    assert.throws(() => joinStyles(new Map([...sheets, ['parts/new.css', '']])), /parts\/new\.css has no place/);
    const fewer = new Map([...sheets].filter(([path]) => path !== 'base.css'));
    assert.throws(() => joinStyles(fewer), /base\.css does not exist/);
  });
});
