import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import { agentsSdkClients } from '#test/gateway/loops/clients/agents-sdk.ts';
import { aiSdkClients } from '#test/gateway/loops/clients/ai-sdk.ts';
import { langChainClients } from '#test/gateway/loops/clients/langchain.ts';
import { isDropped } from '#test/gateway/loops/clients/loop-client.ts';
import { pythonScripts } from '#test/gateway/loops/python/scripts.ts';
import { type ChatState, deepSeek, deepSeek4, gemini, openRouter } from '#test/gateway/support/chat-state.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { isObject } from '#test/gateway/support/strict-provider.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { long } from '#test/support/run/long.ts';
import { agents } from '#test/support/service/agents.ts';
import { describeWithPythonClients, pythonClients, runPython } from '#test/support/service/python-clients.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8');
const examplesIn = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code);
const examples = examplesIn('js');
const pythonExamples = examplesIn('python');

/** The packages that an example imports name it. */
const nameOf = (code: string) => [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name).join(', ');
const pythonNameOf = (code: string) => [...code.matchAll(/^from (\S+) import/gm)].map(([, name]) => name).join(', ');

/** What every example prints: the answer of the sandbox, and then perhaps the length of a vector. */
function assertAnswered(output: string): void {
  const [text = '', ...vectors] = output.trim().split('\n');
  assert.equal(text, 'This is the Switchyard sandbox and no model. You said: When do you open?');
  assert.ok(
    vectors.every((length) => length === '1536'),
    output,
  );
}

describe('the examples in docs/clients.md', function () {
  this.timeout(60_000);
  let service: GatewayService;

  before(async () => {
    service = await startGateway(builtInConfiguration);
  });
  after(() => service.stop());

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

  for (const [index, code] of examples.entries())
    it(`run as they are: ${nameOf(code)} (${index + 1})`, async () => {
      const script = code.replaceAll('http://127.0.0.1:8080', service.url);
      const args = ['--input-type=module', '--eval', script];
      const env = { PATH: process.env.PATH, SWITCHYARD_API_KEY: goodKey };
      assertAnswered((await run(process.execPath, args, { cwd: root, env })).stdout);
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
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.ok(isObject(devDependencies));
    const shownIn = (column: number) =>
      tables.flatMap((line) => [...(line.split(' | ')[column] ?? '').matchAll(/`(\S+)` (\d[\d.]*)/g)]);
    const inJs = shownIn(1).map(([, name = '', version]) => [name, version]);
    assert.deepEqual(
      inJs,
      inJs.map(([name = '']) => [name, devDependencies[name]]),
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
    const clients = [...aiSdkClients, ...agentsSdkClients, ...langChainClients];
    const inJs = clients.map((client) => {
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
