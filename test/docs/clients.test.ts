import assert from 'node:assert/strict';
import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import { isDropped, loopClients } from '#test/gateway/loops/loop-client.ts';
import { pythonScripts } from '#test/gateway/loops/python/scripts.ts';
import { type ChatState, deepSeek, deepSeek4, gemini, openRouter } from '#test/gateway/support/chat-state.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { long } from '#test/support/run/long.ts';
import { agents } from '#test/support/service/agents.ts';
import { describeWithPythonClients, pythonClients, runPython } from '#test/support/service/python-clients.ts';
import clientsPackage from '../clients/package.json' with { type: 'json' };
import { assertAnswered, examples, nameOf, page, pythonExamples, pythonNameOf } from './client-examples.ts';

describe('the examples in docs/clients.md', () => {
  it('are of all clients', () => {
    assert.deepEqual(examples.map(nameOf), [
      'openai',
      'openai',
      '@openai/agents, openai',
      '@anthropic-ai/sdk',
      '@ai-sdk/openai, ai',
      '@ai-sdk/openai-compatible, ai',
      '@ai-sdk/anthropic, ai',
      '@langchain/openai',
      '@langchain/openai',
      '@langchain/anthropic',
    ]);
    assert.deepEqual(pythonExamples.map(pythonNameOf), [
      'openai',
      'openai',
      'agents, openai',
      'anthropic',
      'langchain_openai',
      'langchain_openai',
      'langchain_anthropic',
    ]);
  });
});

describeWithPythonClients('the examples in Python of docs/clients.md', () => {
  let service: GatewayService;

  before(async () => {
    service = await startGateway(builtInConfiguration);
  });
  after(() => service.stop());

  for (const [index, code] of pythonExamples.entries())
    it(`run as they are: ${pythonNameOf(code)} (${index + 1})${index === 0 ? '' : ` ${long}`}`, async () => {
      const script = code.replaceAll('http://127.0.0.1:8080', service.url);
      assertAnswered(await runPython(script, { SWITCHYARD_API_KEY: goodKey }));
    });
});

describe('the versions in docs/clients.md', () => {
  const tables = page.split('\n').filter((line) => line.startsWith('| ['));

  it('are those of the agents that are installed for the tests', () => {
    const shown = tables.flatMap((line) => {
      const [, title, version] = /^\| \[(.+?)\]\(#.+?\) \| (\d\S*) \|/.exec(line) ?? [];
      return title === undefined ? [] : [[title, version]];
    });
    assert.deepEqual(
      shown,
      Object.values(agents).map(({ title, version }) => [title, version]),
    );
  });

  it('are those of the packages that the examples import', () => {
    const pinned: Readonly<Record<string, string>> = clientsPackage.devDependencies;
    const shownIn = (column: number) =>
      tables.flatMap((line) => [...(line.split(' | ')[column] ?? '').matchAll(/`(\S+)` (\d[\d.]*)/g)]);
    const inJs = shownIn(1).map(([, name = '', version]) => [name, version]);
    assert.deepEqual(
      inJs,
      inJs.map(([name = '']) => [name, pinned[name]]),
    );
    const inPython = shownIn(2).map(([, name = '', version]) => [name, version]);
    assert.deepEqual(
      inPython,
      inPython.map(([name = '']) => [name, pythonClients.get(name)]),
    );
    const imported = new Set(examples.flatMap((code) => nameOf(code).split(', ')));
    assert.deepEqual(new Set(inJs.map(([name]) => name)), imported);
    const ofPython = new Set(pythonExamples.flatMap((code) => pythonNameOf(code).split(', ')));
    assert.equal(inPython.length, ofPython.size);
  });
});

describe('the table in docs/clients.md of what a client sends back', () => {
  const [, section = ''] = page.split('\n## What a client sends back\n');
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const columns = [deepSeek, gemini, openRouter];
  /** What a cell says for the model of the tests, without its reason. */
  const plain = (cell: string, { model }: ChatState) => {
    const [, name] = /^to a model with `(\w+)` in its name$/.exec(cell) ?? [];
    return name !== undefined && model.includes(name) ? 'yes' : cell.replace(/^no: .+/, 'no');
  };
  const shown = rows.map((row) => {
    const [name = '', ...cells] = row.split('|').slice(1, -1);
    return [name.trim(), columns.map((state, column) => plain(cells[column]?.trim() ?? '', state))] as const;
  });

  it('shows what the loops of agents find', () => {
    const inJs = loopClients.map((client) => {
      const [own = '', protocol] = client.name.split(', ');
      return { ...client, name: protocol === undefined ? `\`${own}\`` : `\`${own}\`, ${protocol.split(' ')[0]}` };
    });
    const all = [...inJs, ...Object.values(pythonScripts).flat()];
    assert.deepEqual(new Set(shown.map(([name]) => name)), new Set(all.map(({ name }) => name)));
    for (const client of all) {
      const cellOf = (state: ChatState) => {
        if (isDropped(state, client, false)) return 'no';
        return isDropped(state, client, true) ? 'not of streams' : 'yes';
      };
      assert.equal(cellOf(deepSeek), cellOf(deepSeek4));
      assert.deepEqual(new Map(shown).get(client.name), columns.map(cellOf), client.name);
    }
  });
});
