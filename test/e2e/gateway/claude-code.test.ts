import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { chunk, done, FakeProvider, json, role, stop, words } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { eventsOf } from '#test/gateway/support/strict-messages.ts';
import {
  type Body,
  isObject,
  listOf,
  parsedBody,
  refuseAsOpenAi,
  rule,
  sendEvents,
  strictProvider,
} from '#test/gateway/support/strict-provider.ts';
import {
  eventsOfResponse,
  openAiResponse,
  outputMessage,
  responsesRules,
} from '#test/gateway/support/strict-responses.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { agentEnvironment, agents, describeWithAgent } from '#test/support/service/agents.ts';
import { documentedLines, documentedSection } from './support/documented-lines.ts';

const { program } = agents.claudeCode;

describeWithAgent(agents.claudeCode, suite);

function suite(this: Mocha.Suite): void {
  this.timeout(120_000);
  let provider: FakeProvider;
  let full: FakeProvider;
  let chats: FakeProvider;
  let responses: FakeProvider;
  let service: GatewayService;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-claude-code-'));
    await writeFile(join(folder, 'hours.txt'), 'Open from nine to five.');
    await writeFile(join(folder, 'prices.txt'), 'Ten a ticket.');
    [provider, full, chats, responses] = await Promise.all([
      FakeProvider.start(),
      FakeProvider.start(),
      FakeProvider.start(),
      FakeProvider.start(),
    ]);
    chats.answers((res, seen) => sendEvents(res, nextChunks(parsedBody(seen), folder)));
    provider.answers((res, seen) => sendEvents(res, eventsOf(nextMessage(parsedBody(seen), folder))));
    service = await startGateway({
      providers: {
        anthropic: { kind: 'anthropic', baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY' },
        full: { kind: 'openai-compatible', baseUrl: full.baseUrl },
        chats: { kind: 'openai-compatible', baseUrl: chats.baseUrl },
        openai: { kind: 'openai-compatible', baseUrl: responses.baseUrl, responses: true, apiKeyEnv: 'PROVIDER_KEY' },
        sandbox: { kind: 'sandbox' },
      },
      models: {
        thinker: {
          targets: [{ provider: 'openai', model: 'gpt-x', protocol: 'openai-responses', reasoning: true }],
        },
        local: { targets: [{ provider: 'chats', model: 'local-x' }] },
        claude: { targets: [{ provider: 'anthropic', model: 'claude-x' }] },
        'claude-sonnet-5': { targets: [{ provider: 'sandbox', model: 'sandbox' }] },
        'claude-haiku-4-5': { targets: [{ provider: 'sandbox', model: 'sandbox' }] },
        'gpt-x': { targets: [{ provider: 'sandbox', model: 'sandbox' }] },
        full: { targets: [{ provider: 'full', model: 'm' }] },
        sandbox: { targets: [{ provider: 'sandbox', model: 'sandbox' }] },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([provider.stop(), full.stop(), chats.stop(), responses.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const ask = async (model: string, prompt: string, more: NodeJS.ProcessEnv = {}): Promise<Answer> => {
    const args = ['-p', prompt, '--output-format', 'json', '--max-turns', '3', '--allowedTools', 'Read,Bash(cat:*)'];
    const env = { ...environmentOf(service, model, folder), ...more };
    const running = promisify(execFile)(program, args, { cwd: folder, env });
    // It reads what is piped to it before it begins.
    running.child.stdin?.end();
    // It ends with a code of its own after an error.
    const { stdout } = await running.catch((error: { stdout: string }) => error);
    return JSON.parse(stdout) as Answer;
  };

  it('reads a file with its tool, on a target that speaks Messages', async () => {
    const { result, num_turns: turns } = await ask('claude', 'When is it open?');
    assert.deepEqual([turns, result], [2, 'The file says: Open from nine to five.']);
    assert.deepEqual(new Set(service.records.map(({ outcome }) => outcome)), new Set(['served']));
  });

  it('reads two files at the same time, on a provider of chats that sends both calls without an index', async () => {
    const { result, num_turns: turns } = await ask('local', 'When is it open, and what does it cost?');
    assert.deepEqual([turns, result], [3, 'The files say: Open from nine to five. Ten a ticket.']);
  });

  it('uses two tools, on a target of Responses that refuses a later turn without its opaque reasoning', async () => {
    const { behaviour, refusals } = strictProvider(
      [...responsesRules('enc'), needsReasoning],
      refuseAsOpenAi,
      (res, body) => sendEvents(res, eventsOfResponse(nextResponse(body, folder))),
    );
    responses.answers(behaviour);
    service.records.length = 0;
    const { result, num_turns: turns } = await ask('thinker', 'When is it open, and what does it cost?');
    assert.deepEqual(refusals, []);
    assert.deepEqual([turns, result], [3, 'The files say: Open from nine to five. Ten a ticket.']);
    const paths = new Set(responses.seen.map(({ path }) => path));
    assert.ok(
      [...paths].every((path) => path.endsWith('/responses')),
      [...paths].join(),
    );
    assert.deepEqual(new Set(service.records.map(({ outcome }) => outcome)), new Set(['served']));
  });

  it('works with the lines of docs/clients.md', async () => {
    const lines = documentedLines('Claude Code', 'bash').replaceAll('http://127.0.0.1:8080', service.url);
    const env = {
      ...environmentOf(service, 'sandbox', folder),
      ...{ SWITCHYARD_API_KEY: goodKey, PATH: `${dirname(program)}:${process.env.PATH}` },
    };
    const running = promisify(execFile)('bash', ['-c', lines], { cwd: folder, env });
    running.child.stdin?.end();
    assert.match((await running).stdout, /You said: .*When do you open\?/s);
  });

  for (const { model, stated, context } of documentedContexts())
    it(`derives the context of ${model}, with ${stated || 'nothing'} stated, as docs/clients.md says`, async () => {
      service.records.length = 0;
      const answer = await ask(model, 'Hello', { CLAUDE_CODE_MAX_CONTEXT_TOKENS: stated });
      const [used] = Object.values(answer.modelUsage);
      assert.equal(used?.contextWindow, context);
      const requested = service.records.map((record) => record.model);
      assert.deepEqual(new Set(requested), new Set([model.replace('[1m]', '')]));
    });

  it('lists the models of the gateway whose names begin with that of Claude', async () => {
    const { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: _, ...env } = environmentOf(service, 'claude', folder);
    const running = promisify(execFile)(program, ['-p', 'Hello'], {
      cwd: folder,
      env: { ...env, CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' },
    });
    running.child.stdin?.end();
    await running;
    const { models } = JSON.parse(await readFile(join(folder, '.claude/cache/gateway-models.json'), 'utf8'));
    assert.deepEqual(
      models.map(({ id }: { id: string }) => id),
      ['claude', 'claude-sonnet-5', 'claude-haiku-4-5'],
    );
  });

  it('knows that a prompt is too long for a model of another protocol, and does not try again', async () => {
    const message = "This model's maximum context length is 8192 tokens, however you requested 10346 tokens.";
    full.answers(json({ error: { message, type: 'BadRequestError', code: 400 } }, 400));
    const { is_error: isError, terminal_reason: reason } = await ask('full', 'When is it open?');
    assert.deepEqual([isError, reason, full.seen.length], [true, 'prompt_too_long', 1]);
  });

  it('gets its requests translated, on the sandbox', async () => {
    service.records.length = 0;
    const { is_error: isError, result } = await ask('sandbox', 'call Read');
    assert.equal(isError, false, result);
    assert.ok(service.records.length >= 2, 'a call of the tool, and a text after it');
  });
}

/** What Claude Code prints. */
interface Answer {
  readonly result: string;
  readonly num_turns: number;
  readonly is_error: boolean;
  readonly terminal_reason: string;
  readonly modelUsage: Readonly<Record<string, { readonly contextWindow: number }>>;
}

/** A row of the table of docs/clients.md. */
interface DocumentedContext {
  readonly model: string;
  /** What `CLAUDE_CODE_MAX_CONTEXT_TOKENS` states; empty for nothing. */
  readonly stated: string;
  readonly context: number;
}

function documentedContexts(): ReadonlyArray<DocumentedContext> {
  const rows = documentedSection('Claude Code').matchAll(/^\| `(\S+)` \| (\d*) ?\| ([\d,]+) \|$/gm);
  return [...rows].map(([, model = '', stated = '', context = '']) => ({
    model,
    stated,
    context: Number(context.replaceAll(',', '')),
  }));
}

function environmentOf({ url }: GatewayService, model: string, home: string): NodeJS.ProcessEnv {
  return {
    ...agentEnvironment(home),
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1' },
    ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: goodKey, ANTHROPIC_MODEL: model },
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  };
}

/** Asks for the file, and then says what is in it. */
function nextMessage(body: Readonly<Record<string, unknown>>, folder: string) {
  const results = listOf(body.messages)
    .flatMap(({ content }) => listOf(content))
    .filter(({ type }) => type === 'tool_result');
  const hasTools = listOf(body.tools).some(({ name }) => name === 'Read');
  const read = { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: join(folder, 'hours.txt') } };
  const isRead = JSON.stringify(results).includes('Open from nine to five.');
  const text = { type: 'text', text: isRead ? 'The file says: Open from nine to five.' : 'Nothing.' };
  const callsTool = hasTools && results.length === 0;
  assert.ok(isObject(body));
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x' },
    content: [callsTool ? read : text],
    ...{ stop_reason: callsTool ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { input_tokens: 10, output_tokens: 5 },
  };
}

/** OpenAI refuses a call without the reasoning before it. Here its opaque part names the call. */
const needsReasoning = rule('https://platform.openai.com/docs/guides/reasoning', ({ input }) => {
  const items = listOf(input);
  const lone = items.find(
    ({ type, call_id: id }, at) => type === 'function_call' && items[at - 1]?.encrypted_content !== `enc-${id}`,
  );
  return lone === undefined ? null : `${lone.call_id} was provided without its required 'reasoning' item`;
});

/** Asks for one file with each of two tools, after some reasoning, and then says what is in them. */
function nextResponse(body: Body, folder: string): Body {
  const outputs = listOf(body.input).filter(({ type }) => type === 'function_call_output');
  const calls = [
    ['Read', { file_path: join(folder, 'hours.txt') }],
    ['Bash', { command: 'cat prices.txt', description: 'Shows the prices' }],
  ] as const;
  const [name, given] = listOf(body.tools).length === 0 ? [] : (calls[outputs.length] ?? []);
  const said = ['Open from nine to five.', 'Ten a ticket.'].filter((text) => JSON.stringify(outputs).includes(text));
  if (name === undefined) return openAiResponse([outputMessage(`The files say: ${said.join(' ')}`)]);
  const id = `call_${outputs.length}`;
  const summary = isObject(body.reasoning) ? [{ type: 'summary_text', text: 'I need a file.' }] : [];
  return openAiResponse([
    { id: `rs_${id}`, type: 'reasoning', summary, encrypted_content: `enc-${id}` },
    { id: `fc_${id}`, type: 'function_call', status: 'completed', call_id: id, name, arguments: JSON.stringify(given) },
  ]);
}

/** Asks for both files in one answer, and then says what is in them. */
function nextChunks(body: Readonly<Record<string, unknown>>, folder: string): ReadonlyArray<string> {
  const results = listOf(body.messages).filter(({ role: said }) => said === 'tool');
  const hasTools = listOf(body.tools).some(({ function: tool }) => isObject(tool) && tool.name === 'Read');
  if (!hasTools || results.length > 0) {
    const said = ['Open from nine to five.', 'Ten a ticket.'].filter((text) => JSON.stringify(results).includes(text));
    return [role, ...words(`The files say: ${said.join(' ')}`), stop, done];
  }
  const calls = ['hours.txt', 'prices.txt'].map((name, place) => ({
    ...{ id: `call_${place}`, type: 'function' },
    function: { name: 'Read', arguments: JSON.stringify({ file_path: join(folder, name) }) },
  }));
  return [role, ...calls.map((call) => chunk({ tool_calls: [call] })), chunk({}, 'tool_calls'), done];
}
