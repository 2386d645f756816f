import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type AskedCall,
  type AskingProvider,
  askingChat,
  askingClaude,
  declaredTo,
  historyOf,
} from '#test/gateway/support/asking-provider.ts';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { type Body, listOf, parsedBody, sendEvents } from '#test/gateway/support/strict-provider.ts';
import { eventsOfResponse, openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { agentEnvironment, agents, describeWithAgent } from '#test/support/service/agents.ts';
import { documentedLines } from './support/documented-lines.ts';

const server = join(import.meta.dirname, 'support/desk-mcp-server.ts');
const script = 'text(await tools.mcp__desk__opening_hours({ day: "Monday" }));';
const monday = '{"day":"Monday"}';
const hours = 'nine to five';
/** Codex declares the tools of these models in three ways. */
const models = ['not-known', 'gpt-5.5-codex', 'gpt-5.6-terra'];

describeWithAgent(agents.codex, suite);

function suite(this: Mocha.Suite): void {
  this.timeout(120_000);
  const [chat, claude] = [askingChat(), askingClaude()];
  const providers: FakeProvider[] = [];
  const services = new Map<string, GatewayService>();

  before(async () => {
    for (const provider of [chat, claude]) provider.next = () => nextCalls(provider);
    const kinds = {
      native: { kind: 'openai-compatible', responses: true },
      chat: { kind: 'openai-compatible' },
      claude: { kind: 'anthropic' },
    };
    for (const [name, settings] of Object.entries(kinds)) {
      const provider = await FakeProvider.start();
      providers.push(provider);
      const ofPath = { chat: chat.behaviour, claude: claude.behaviour };
      provider.answers(
        ofPath[name as keyof typeof ofPath] ??
          ((res, seen) => sendEvents(res, eventsOfResponse(openAiResponse([nextItem(parsedBody(seen))])))),
      );
      const p = { ...settings, baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY' };
      const entries = models.map((model) => [model, { targets: [{ provider: 'p', model: 'up' }] }]);
      services.set(name, await startGateway({ providers: { p }, models: Object.fromEntries(entries) }));
    }
  });
  after(async () => {
    for (const service of services.values()) await service.stop();
    await Promise.all(providers.map((provider) => provider.stop()));
  });

  for (const target of ['native', 'chat', 'claude'])
    for (const model of models)
      it(`calls the tool of an MCP server in two turns, as ${model} on a target that is ${target}`, async () => {
        const folder = await mkdtemp(join(tmpdir(), 'switchyard-codex-tools-'));
        try {
          const { url } = services.get(target) ?? assert.fail();
          await configure(folder, url, model);
          for (const args of [['exec'], ['exec', 'resume', '--last']]) {
            const events = await run(folder, args);
            const called = events.filter(
              ({ type, item }) => type === 'item.completed' && item?.type === 'mcp_tool_call',
            );
            assert.deepEqual(
              called.map(({ item }) => [item?.tool, item?.status]),
              [['opening_hours', 'completed']],
              JSON.stringify(events),
            );
          }
          if (target !== 'native') {
            const asked = target === 'chat' ? chat : claude;
            assert.deepEqual(asked.refusals, []);
            assert.equal(historyOf(asked).results.filter((text) => text.includes(hours)).length, 2);
          }
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      });
}

async function configure(folder: string, url: string, model: string): Promise<void> {
  const lines = documentedLines('Codex', 'toml').replaceAll('http://127.0.0.1:8080', url);
  const mcp = `\n[mcp_servers.desk]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}]\n`;
  await mkdir(join(folder, '.codex'));
  await writeFile(join(folder, '.codex/config.toml'), lines.replace('"sandbox"', JSON.stringify(model)) + mcp);
}

async function run(folder: string, args: ReadonlyArray<string>): Promise<ReadonlyArray<CodexEvent>> {
  const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json'];
  const running = promisify(execFile)(agents.codex.program, [...args, ...flags, 'When is the desk open?'], {
    cwd: folder,
    timeout: 60_000,
    env: { ...agentEnvironment(folder), SWITCHYARD_API_KEY: goodKey },
  });
  running.child.stdin?.end();
  const { stdout } = await running.catch((error: { stdout: string }) => error);
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as CodexEvent);
}

/** A line that it writes. */
interface CodexEvent {
  readonly type: string;
  readonly item?: { readonly type: string; readonly tool?: string; readonly status?: string };
}

/** Calls the tool of the server, by what the request declares: itself, a search for it, or a script. */
function nextCalls(provider: AskingProvider): ReadonlyArray<AskedCall> {
  if (JSON.stringify(listOf(provider.seen.messages).at(-1)).includes(hours)) return [];
  const declared = declaredTo(provider);
  const calls = [
    { name: 'mcp__desk__opening_hours', given: monday },
    { name: 'tool_search', given: '{"query":"opening hours"}' },
    { name: 'exec', given: JSON.stringify({ input: script }) },
  ];
  return [calls.find(({ name }) => declared.has(name)) ?? assert.fail([...declared.keys()].join())];
}

/** The same of a model of OpenAI. */
function nextItem(body: Body): Body {
  const items = listOf(body.input);
  if (JSON.stringify(items.at(-1)).includes(hours)) return outputMessage('It is open.');
  const common = { status: 'completed', call_id: `call_${items.length}` };
  const lists = [body.tools, ...items.map(({ tools }) => tools)].flatMap(listOf);
  if (lists.some(({ type, name }) => type === 'namespace' && name === 'mcp__desk'))
    return {
      ...common,
      id: 'fc_1',
      type: 'function_call',
      namespace: 'mcp__desk',
      name: 'opening_hours',
      arguments: monday,
    };
  if (lists.some(({ type }) => type === 'tool_search'))
    return {
      ...common,
      id: 'tsc_1',
      type: 'tool_search_call',
      execution: 'client',
      arguments: { query: 'opening hours' },
    };
  return { ...common, id: 'ctc_1', type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: script };
}
