import assert from 'node:assert/strict';
import { joinModules, type SourceModule } from '#dashboard/join-modules.ts';

const outer = [{ specifier: 'path', address: 'node:path' }];
const source = (specifier: string, text: string): SourceModule => ({ specifier, text });

/** Runs a joined module. @returns the value that it assigned to `globalThis.result` */
async function resultOf(modules: ReadonlyArray<SourceModule>): Promise<unknown> {
  const text = joinModules(modules, outer, 'main');
  await import(`data:text/javascript,${encodeURIComponent(text)}`);
  return (globalThis as { result?: unknown }).result;
}

describe('joinModules', () => {
  it('runs each module after those that it imports, with names of its own', async () => {
    const modules = [
      source(
        'main',
        "import { one as first,\n  two } from 'a';\nimport path from 'path';\nconst own = 1;\nglobalThis.result = [first, two(), own, path.posix.sep];\n",
      ),
      source(
        'a',
        "import { Three } from 'b';\nconst own = 2;\n/** Says one. */\nexport const one = own;\nexport async function* never() {}\nexport function two() {\n  // Why.\n  return new Three().three;\n}\n",
      ),
      source('b', 'export class Three {\n  three = 3;\n}\n'),
    ];
    assert.deepEqual(await resultOf(modules), [2, 3, 1, '/']);
  });

  it('omits comments and modules that no module imports', () => {
    const text = joinModules(
      [source('main', '/** Why. */\n// Because.\nconst a = 1;\n'), source('unused', 'export const b = 2;\n')],
      outer,
      'main',
    );
    assert.doesNotMatch(text, /Why|Because|b = 2/);
  });

  it('refuses a missing module, a circle and an unknown form of import', () => {
    const joined =
      (...modules: ReadonlyArray<SourceModule>) =>
      () =>
        joinModules(modules, outer, 'main');
    assert.throws(joined(source('main', "import { a } from 'gone';\n")), /main imports gone/);
    const circle = [source('main', "import { a } from 'a';\n"), source('a', "import { b } from 'main';\n")];
    assert.throws(joined(...circle), /import each other/);
    for (const form of [
      'export default 1;',
      "export * from 'path';",
      'export { a };',
      'export let a = 1;',
      "import 'path';",
    ]) {
      assert.throws(joined(source('main', `${form}\n`)), /cannot be joined/, form);
    }
  });
});
