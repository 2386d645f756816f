import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Behaviour,
  chunk,
  done,
  FakeProvider,
  json,
  role,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { listOf, parsedBody, sendEvents } from '#test/gateway/support/strict-provider.ts';
import { eventsOfResponse, openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { agentEnvironment, agents, describeWithAgent } from '#test/support/service/agents.ts';
import { documentedLines } from './support/documented-lines.ts';

const { program } = agents.codex;
const content = 'Open from nine to five.';
const command = JSON.stringify({ cmd: 'cat hours.txt' });

describeWithAgent(agents.codex, suite);

function suite(this: Mocha.Suite): void {
  this.timeout(120_000);
  let openai: FakeProvider;
  let chat: FakeProvider;
  let full: FakeProvider;
  let service: GatewayService;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-codex-'));
    await mkdir(join(folder, '.codex'));
    await writeFile(join(folder, 'hours.txt'), content);
    [openai, chat, full] = await Promise.all([FakeProvider.start(), FakeProvider.start(), FakeProvider.start()]);
    openai.answers((res, seen) => sendEvents(res, eventsOfResponse(nextResponse(parsedBody(seen)))));
    chat.answers((res, seen) => stream(nextChunks(parsedBody(seen)))(res, seen));
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl, responses: true },
        chat: { kind: 'openai-compatible', baseUrl: chat.baseUrl },
        fullChat: { kind: 'openai-compatible', baseUrl: full.baseUrl, timeouts: { earlyHeadMs: 50 } },
        fullClaude: { kind: 'anthropic', baseUrl: full.baseUrl },
        sandbox: { kind: 'sandbox' },
      },
      models: {
        native: { targets: [{ provider: 'openai', model: 'gpt-x' }] },
        translated: { targets: [{ provider: 'chat', model: 'gpt-y' }] },
        'full-chat': { targets: [{ provider: 'fullChat', model: 'gpt-y' }] },
        'full-claude': { targets: [{ provider: 'fullClaude', model: 'claude-x' }] },
        sandbox: { targets: [{ provider: 'sandbox', model: 'sandbox' }] },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([openai.stop(), chat.stop(), full.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs it with the lines of docs/clients.md. @returns its events */
  const run = async (model: string): Promise<ReadonlyArray<CodexEvent>> => {
    const lines = documentedLines('Codex', 'toml').replaceAll('http://127.0.0.1:8080', service.url);
    await writeFile(join(folder, '.codex/config.toml'), lines.replace('"sandbox"', JSON.stringify(model)));
    const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json'];
    const running = promisify(execFile)(program, ['exec', ...flags, 'When is it open?'], {
      cwd: folder,
      env: {
        ...agentEnvironment(folder),
        ...{ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, SWITCHYARD_API_KEY: goodKey },
      },
    });
    running.child.stdin?.end();
    // It ends with a code of its own after a turn that failed.
    const { stdout } = await running.catch((error: { stdout: string }) => error);
    const events = stdout.split('\n').filter((line) => line.startsWith('{'));
    return events.map((line) => JSON.parse(line) as CodexEvent);
  };

  /** @returns the texts that it says */
  const ask = async (model: string): Promise<ReadonlyArray<string>> =>
    (await run(model)).flatMap(({ item }) => (item?.type === 'agent_message' ? [item.text ?? ''] : []));

  for (const model of ['native', 'translated'])
    it(`runs a command with its tool, on a target that is ${model}`, async () => {
      service.records.length = 0;
      assert.deepEqual(await ask(model), [`The file says: ${content}`]);
      assert.deepEqual(
        service.records.map(({ operation, outcome }) => [operation, outcome]),
        [
          ['responses', 'served'],
          ['responses', 'served'],
        ],
      );
    });

  const openAiError = { message: "This model's maximum context length is 8192 tokens.", type: 'invalid_request_error' };
  const anthropicError = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  };
  const refusals: ReadonlyArray<readonly [string, string, Behaviour]> = [
    ['full-chat', 'in a refusal', json({ error: openAiError }, 400)],
    ['full-chat', 'in a stream', stream([`data: ${JSON.stringify({ error: openAiError })}\n\n`])],
    [
      'full-chat',
      'after content',
      stream([role, ...words('Once'), `data: ${JSON.stringify({ error: openAiError })}\n\n`]),
    ],
    [
      'full-chat',
      'after an early head',
      stream([`data: ${JSON.stringify({ error: openAiError })}\n\n`], { beforeFirstMs: 500 }),
    ],
    ['full-claude', 'in a refusal', json(anthropicError, 400)],
    ['full-claude', 'in a stream', stream([`event: error\ndata: ${JSON.stringify(anthropicError)}\n\n`])],
  ];
  for (const [model, where, behaviour] of refusals)
    it(`says that the context is too long, and does not try again: ${model}, ${where}`, async () => {
      full.answers(behaviour);
      const events = await run(model);
      const failed = events.find(({ type }) => type === 'turn.failed');
      assert.match(failed?.error?.message ?? '', /ran out of room in the model's context window/);
      assert.equal(full.seen.length, 1);
    });

  it('works with the lines of docs/clients.md on the sandbox, and knows the context that they state', async () => {
    await rm(join(folder, '.codex/sessions'), { recursive: true, force: true });
    assert.match((await ask('sandbox')).join(), /You said: .*When is it open\?/s);
    const sessions = await readdir(join(folder, '.codex/sessions'), { recursive: true });
    const session = sessions.find((name) => name.endsWith('.jsonl')) ?? '';
    const kept = await readFile(join(folder, '.codex/sessions', session), 'utf8');
    const [, context] = /"model_context_window":(\d+)/.exec(kept) ?? [];
    assert.equal(Number(context), 128_000 * 0.95);
  });
}

/** A line that it writes. */
interface CodexEvent {
  readonly type: string;
  readonly item?: { readonly type: string; readonly text?: string };
  readonly error?: { readonly message: string };
}

/** Asks for the file, and then says what is in it. */
function nextResponse({ input }: Readonly<Record<string, unknown>>) {
  const outputs = listOf(input).filter(({ type }) => type === 'function_call_output');
  if (outputs.length > 0) return openAiResponse([outputMessage(says(outputs))]);
  const call = { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'exec_command' };
  return openAiResponse([{ ...call, arguments: command }]);
}

function nextChunks({ messages }: Readonly<Record<string, unknown>>): ReadonlyArray<string> {
  const results = listOf(messages).filter(({ role: of }) => of === 'tool');
  if (results.length > 0) return [role, ...words(says(results)), stop, done];
  const asked = { index: 0, id: 'call_1', function: { name: 'exec_command', arguments: command } };
  return [role, chunk({ tool_calls: [asked] }), chunk({}, 'tool_calls'), done];
}

function says(results: ReadonlyArray<object>): string {
  return JSON.stringify(results).includes(content) ? `The file says: ${content}` : 'Nothing.';
}
