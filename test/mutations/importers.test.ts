import assert from 'node:assert/strict';
import { ImportGraph } from './importers.ts';

const aliases = { '#gateway/*': './src/gateway/*', '#test/*': './test/*' };

describe('ImportGraph', () => {
  it('names the test of the same path first, then the tests that load the file over the fewest imports', () => {
    const tests = testsOf('src/gateway/relay.ts', {
      'src/gateway/app.ts': "import { relay } from './relay.ts';",
      'test/far.test.ts': "import { app } from '#gateway/app.ts';",
      'test/near.test.ts': "import { relay } from '#gateway/relay.ts';",
      'test/gateway/relay.test.ts': "import { app } from '#gateway/app.ts';",
    });
    assert.deepEqual(tests, ['test/gateway/relay.test.ts', 'test/near.test.ts', 'test/far.test.ts']);
  });

  it('prefers tests in the same folder, then short ones', () => {
    const relay = "import { relay } from '#gateway/relay/relay.ts';";
    const tests = testsOf('src/gateway/relay/relay.ts', {
      'test/http/a.test.ts': relay,
      'test/gateway/relay/long.test.ts': `${relay}\n// longer`,
      'test/gateway/relay/short.test.ts': relay,
    });
    assert.deepEqual(tests, [
      'test/gateway/relay/short.test.ts',
      'test/gateway/relay/long.test.ts',
      'test/http/a.test.ts',
    ]);
  });

  it('names tests that start processes apart, those first that share words with the file', () => {
    const graph = graphOf({
      'src/main.ts': "import '#gateway/relay.ts';",
      'src/gateway/relay.ts': '',
      'test/support/service.ts': "const main = resolve(import.meta.dirname, '../../src/main.ts');",
      'test/e2e/start.test.ts': "import { start } from '#test/support/service.ts';",
      'test/e2e/gateway.test.ts': "import { start } from '#test/support/service.ts';",
      'test/e2e/other.test.ts': '',
      'test/app/start.test.ts': "import { start } from '#test/support/service.ts';",
      'test/app/relay.test.ts': "import { relay } from '#gateway/relay.ts';",
    });
    assert.deepEqual(graph.testsOf('src/gateway/relay.ts'), ['test/app/relay.test.ts']);
    const [first, ...others] = graph.costlyTestsOf('src/gateway/relay.ts');
    assert.equal(first, 'test/e2e/gateway.test.ts');
    assert.deepEqual(others.sort(), ['test/app/start.test.ts', 'test/e2e/start.test.ts']);
  });

  it('follows later imports, threads and the files of a folder, and no imports of types', () => {
    const tests = testsOf('src/cli/keys.ts', {
      'test/later.test.ts': "const keys = await import('../src/cli/keys.ts');",
      'test/thread.test.ts': "new Worker(new URL('../src/cli/keys.ts', import.meta.url));",
      'test/folder.test.ts': "const tools = join(import.meta.dirname, '../src/cli');",
      'test/types.test.ts': "import type { Key } from '../src/cli/keys.ts';",
      'test/exported-types.test.ts': "export type { Key } from '../src/cli/keys.ts';",
    });
    assert.deepEqual([...tests].sort(), ['test/folder.test.ts', 'test/later.test.ts', 'test/thread.test.ts']);
  });
});

function testsOf(file: string, texts: Readonly<Record<string, string>>): ReadonlyArray<string> {
  return graphOf({ [file]: '', ...texts }).testsOf(file);
}

function graphOf(texts: Readonly<Record<string, string>>): ImportGraph {
  const sources = Object.entries(texts).map(([path, text]) => ({ path, text }));
  return new ImportGraph(sources, aliases);
}
