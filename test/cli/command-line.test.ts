import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '#app/config.ts';
import { projections } from '#projections/table.ts';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { long } from '#test/support/run/long.ts';
import { ServiceProcess, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const tools = join(import.meta.dirname, '../../src/cli');

interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('command-line tools', function () {
  this.timeout(180_000);

  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = temporaryFolder();
  });

  afterEach(() => folder.remove());

  /** Runs a tool as `npm run` does. */
  function run(tool: string, words: ReadonlyArray<string>, dataDir = folder.path): Promise<ToolResult> {
    return new Promise((resolve) => {
      const env = { NODE_COMPILE_CACHE: compileCache, PATH: process.env.PATH, DATA_DIR: dataDir };
      execFile(process.execPath, [join(tools, tool), ...words], { env, timeout: 120_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
    });
  }

  const lines = ({ stdout }: ToolResult) => stdout.trim().split('\n');

  describe('command-line tools beside a running service', () => {
    const shared = temporaryFolder();
    let service: ServiceProcess;
    const runBeside = (tool: string, ...words: ReadonlyArray<string>) => run(tool, words, shared.path);

    before(async () => {
      service = await new ServiceProcess({ dataDir: shared.path }).listening();
    });

    after(async () => {
      await service.kill();
      shared.remove();
    });

    it('lists and rebuilds the read models of a running service', async () => {
      assert.equal(lines(await runBeside('projections.ts', 'list')).length, projections.length);
      const rebuilt = await runBeside('projections.ts', 'rebuild', 'flows');
      assert.deepEqual([rebuilt.code, rebuilt.stderr], [0, '']);
      assert.match(lines(rebuilt).join(), /^flows running at position \d+$/);
      assert.equal(lines(await runBeside('projections.ts', 'rebuild', 'all')).length, projections.length);
    });

    it('prints what is wrong and exits with 1 when the service refuses a request', async () => {
      const unknown = await runBeside('projections.ts', 'rebuild', 'nothing');
      assert.equal(unknown.code, 1);
      assert.match(unknown.stderr, /There is no projection nothing/);
      const running = await runBeside('projections.ts', 'retry', 'flows');
      assert.equal(running.code, 1);
      assert.match(running.stderr, /nothing to retry/);
      const skipped = await runBeside('projections.ts', 'skip', 'flows', 'some-event');
      assert.equal(skipped.code, 1);
      assert.match(skipped.stderr, /not stopped at event some-event/);
    });

    it('shows how far read models and processes are in the log', async () => {
      const place = /^[a-z-]+ running at position \d+ of \d+, (100%|\d+% \(.+\))$/;
      for (const tool of ['projections.ts', 'processes.ts']) {
        const shown = lines(await runBeside(tool, 'status'));
        assert.ok(shown.length > 0 && shown.every((line) => place.test(line)), shown.join());
      }
    });

    it('lists the processes, and says why a running process is not retried', async () => {
      const listed = lines(await runBeside('processes.ts', 'list'));
      assert.ok(
        listed.length > 0 && listed.every((line) => /^[a-z-]+ running at position \d+$/.test(line)),
        listed.join(),
      );
      const running = await runBeside('processes.ts', 'retry', 'detach-phone-numbers');
      assert.deepEqual([running.code, running.stderr], [1, 'processes: It is running, so it has nothing to retry.\n']);
      const skipped = await runBeside('processes.ts', 'skip', 'detach-phone-numbers', 'some-event');
      assert.match(skipped.stderr, /not stopped at event some-event/);
    });

    it('creates another admin key in a running service', async () => {
      const beside = await runBeside('keys.ts', 'admin');
      assert.deepEqual([beside.code, beside.stderr], [0, '']);
      const me = await service.client.as(beside.stdout.trim()).get('/v1/me');
      assert.deepEqual([me.status, me.body.keyType], [200, 'admin']);
    });

    // The last tests end the admin key of the others, and then the service.
    it('ends every secret issued before a time, and prints a new admin key', async () => {
      const { client } = service;
      const { projectId } = (await client.get('/v1/me')).body;
      const body = { name: 'Website', keyType: 'project' };
      const made = await client.post<{ id: string; key: string }>(`/v1/projects/${projectId}/keys`, body);
      const wrong = await runBeside('keys.ts', 'revoke-before', '2999-01-01T00:00:00Z');
      assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
      assert.equal((await runBeside('keys.ts', 'revoke-before')).code, 1);
      const ended = await runBeside('keys.ts', 'revoke-before', 'now');
      assert.deepEqual([ended.code, ended.stderr, lines(ended).length], [0, '', 1]);
      const admin = client.as(ended.stdout.trim());
      for (const old of [client, client.as(made.body.key)]) assert.equal((await old.get('/v1/me')).status, 401);
      assert.equal((await admin.get('/v1/me')).body.keyType, 'admin');
      const rotated = await admin.post<{ key: string }>(`/v1/keys/${made.body.id}/rotate`, { overlapSeconds: 60 });
      assert.equal((await client.as(rotated.body.key).get('/v1/me')).status, 200);
      assert.equal((await client.as(made.body.key).get('/v1/me')).status, 401);
    });

    it('connects through a socket that only its owner can open and that the service removes when it stops', async () => {
      const path = join(shared.path, 'control.sock');
      assert.equal(statSync(path).mode & 0o777, 0o600);
      await service.stop();
      assert.equal(statSync(path, { throwIfNoEntry: false }), undefined);
    });
  });

  it(`prints the usage of a tool and exits with 1 when its arguments are wrong ${long}`, async () => {
    for (const words of [[], ['rebuild'], ['retry'], ['skip', 'flows']]) {
      const shown = await run('projections.ts', words);
      assert.equal(shown.code, 1);
      assert.match(shown.stderr, /^Usage: /);
      assert.equal(
        shown.stderr.endsWith('\nprojections: an argument is missing. The usage is above.\n'),
        words.length > 0,
      );
    }
    for (const words of [[], ['skip', 'detach-phone-numbers']]) {
      const shown = await run('processes.ts', words);
      assert.equal(shown.code, 1);
      assert.match(shown.stderr, /^Usage: npm run processes/);
    }
  });

  it(`names the word that a tool does not understand, in one line ${long}`, async () => {
    for (const [tool, words, message] of [
      ['projections', ['dance'], 'does not understand "dance"; it takes list, status, retry, skip, rebuild.'],
      ['projections', ['list', 'flows'], 'does not understand "flows"; it takes nothing more.'],
      ['processes', ['rebuild', 'all'], 'does not understand "rebuild"; it takes list, status, retry, skip.'],
      ['keys', ['make'], 'does not understand "make"; it takes generate, admin, revoke-before.'],
      ['keys', ['generate', 'two'], 'does not understand "two"; it takes nothing more.'],
      ['gateway', ['chek', 'file'], 'does not understand "chek"; it takes check, import-litellm.'],
      ['replay', ['chek'], 'does not understand "chek"; it takes check.'],
      ['replay', ['check', 'all'], 'does not understand "all"; it takes nothing more.'],
      ['blobs', ['sweep', 'all'], 'does not understand "all"; it takes --delete, --force.'],
      ['subject-keys', ['move'], 'does not understand "move"; it takes copy.'],
      [
        'events',
        ['dance'],
        'does not understand "dance"; it takes export, import, verify, skip-event, archive, archives, unarchive, digest, digest-key.',
      ],
      ['replay', ['check', '--until', '5'], 'does not understand "--until"; it takes --write.'],
    ] as const) {
      const { code, stderr, stdout } = await run(`${tool}.ts`, words);
      assert.deepEqual(
        { code, stderr, stdout },
        { code: 1, stderr: `${tool}: it ${message} See: npm run ${tool} -- --help\n`, stdout: '' },
      );
    }
  });

  it(`names the argument that is missing or contradicts another in one line ${long}`, async () => {
    for (const [words, message] of [
      [['import'], 'import needs a <file>'],
      [['unarchive', '2026-01-05'], 'unarchive needs a <file>'],
      [['archive'], 'archive needs --before <time>'],
      [['verify', '--key', 'public.pem'], '--key needs --digests <folder>'],
      [['export', '-', '--resume'], '--resume continues a file, and not standard output'],
    ] as const) {
      const { code, stderr } = await run('events.ts', words);
      assert.deepEqual([code, stderr], [1, `events: ${message}. See: npm run events -- --help\n`]);
    }
  });

  it('names an unknown option of the MCP proxy in one line', async () => {
    for (const [words, message] of [
      [['--bogus'], "Unknown option '--bogus'."],
      [['bogus'], "Unexpected argument 'bogus'."],
    ] as const) {
      const { code, stderr, stdout } = await run('mcp.ts', words);
      assert.deepEqual([code, stderr, stdout], [1, `switchyard-mcp: ${message} See: switchyard-mcp --help\n`, '']);
    }
  });

  for (const [tools, mark] of [
    [['projections'], ''],
    [['processes', 'keys', 'gateway', 'subject-keys', 'events', 'blobs', 'replay'], ` ${long}`],
  ] as const) {
    it(`shows the usage of ${tools.join(', ')} for --help, and starts nothing${mark}`, async () => {
      for (const tool of tools) {
        const { code, stdout, stderr } = await run(`${tool}.ts`, ['--help']);
        // npm's banner would be in the configuration that it prints.
        const silent = tool === 'gateway' ? '--silent ' : '';
        assert.deepEqual([code, stderr, stdout.startsWith(`Usage: npm run ${silent}${tool}`)], [0, '', true], tool);
      }
      assert.deepEqual(readdirSync(folder.path), []);
    });
  }

  it('exits without a message when its output is closed', async () => {
    const child = spawn(process.execPath, [join(tools, 'projections.ts'), '--help'], {
      env: { NODE_COMPILE_CACHE: compileCache, PATH: process.env.PATH, DATA_DIR: folder.path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const [code] = (await once(child, 'close')) as [number];
    assert.deepEqual([code, stderr], [141, '']);
  });

  describe('npm run replay', () => {
    it('replays every frozen event with check, and touches no data', async () => {
      const { code, stdout, stderr } = await run('replay.ts', ['check']);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /^replayed [1-9]\d* frozen events of [1-9]\d* streams, 0 differ\n$/);
      assert.deepEqual(readdirSync(folder.path), []);
    });

    it(`prints the usage of replay when --until has no folder or --write has nothing to write ${long}`, async () => {
      for (const words of [[], ['--until', '5'], ['--into', 'past'], ['--until', '5', '--into', 'past', '--write']]) {
        const { code, stdout, stderr } = await run('replay.ts', words);
        assert.deepEqual([code, stdout, stderr.startsWith('Usage: npm run replay')], [1, '', true], words.join(' '));
      }
    });

    it(`names an unknown option and an option without a value in one line ${long}`, async () => {
      for (const words of [['--util', '5'], ['--until']]) {
        const { code, stdout, stderr } = await run('replay.ts', words);
        assert.deepEqual([code, stdout], [1, '']);
        assert.match(stderr, new RegExp(`^replay: [^\\n]*${words[0]}[^\\n]*\\n$`));
      }
    });

    it('reports that there is no log to replay', async () => {
      const { code, stdout, stderr } = await run('replay.ts', ['--until', '5', '--into', join(folder.path, 'past')]);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^replay: [^\n]+\n$/);
      assert.deepEqual(readdirSync(folder.path), []);
    });
  });

  describe('npm run gateway -- check', () => {
    const check = async (configuration: unknown) => {
      const file = join(folder.path, 'gateway.json');
      writeFileSync(file, typeof configuration === 'string' ? configuration : JSON.stringify(configuration));
      const { code, stdout, stderr } = await run('gateway.ts', ['check', file]);
      return { code, stdout: stdout.replaceAll(file, 'FILE'), stderr: stderr.replaceAll(file, 'FILE') };
    };
    const providers = { sandbox: { kind: 'sandbox' }, eleven: { kind: 'elevenlabs' } };
    const models = {
      large: { targets: [{ provider: 'sandbox', model: 'x' }] },
      scribe: { targets: [{ provider: 'eleven', model: 'scribe_v2' }] },
    };

    it('accepts a valid configuration without starting anything', async () => {
      assert.deepEqual(await check({ providers, models, auto: { chat: { balanced: 'large' } } }), {
        code: 0,
        stdout: 'FILE is valid: 2 providers, 2 models, 0 voices\n',
        stderr: '',
      });
      assert.deepEqual(readdirSync(folder.path), ['gateway.json']);
    });

    it('lists the targets that embeddings pass over', async () => {
      const more = { provider: 'sandbox', model: 'y' };
      const passing = {
        targets: [{ provider: 'sandbox', model: 'x' }, more],
        fallbacks: [{ ...more, interchangeable: true }],
      };
      const { code, stdout } = await check({ providers, models: { passing } });
      const note = 'note: embeddings with the model passing do not ask sandbox/y, whose vectors may differ';
      assert.deepEqual([code, stdout], [0, `FILE is valid: 2 providers, 1 model, 0 voices\n${note}\n`]);
    });

    it('warns about models that think at another host without a member for their limit', async () => {
      const thinking = { model: 'x', reasoning: true };
      const { code, stdout } = await check({
        providers: {
          openai: { kind: 'openai-compatible' },
          azure: { kind: 'openai-compatible', baseUrl: 'https://me.openai.azure.com/openai/v1' },
          local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' },
          said: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', maxTokens: 'max_tokens' },
          anthropic: { kind: 'anthropic' },
        },
        models: {
          one: {
            targets: [
              { ...thinking, provider: 'local' },
              { model: 'x', provider: 'local' },
              { ...thinking, provider: 'local', maxTokens: 'max_completion_tokens' },
              ...['openai', 'azure', 'said', 'anthropic'].map((provider) => ({ ...thinking, provider })),
            ],
            fallbacks: [{ ...thinking, provider: 'local' }],
          },
          two: { targets: [{ ...thinking, provider: 'local' }], maxTokens: 'max_tokens' },
        },
      });
      const warned = stdout.split('\n').flatMap((line) => /^warning: (\S+) .*"maxTokens"/.exec(line)?.[1] ?? []);
      assert.deepEqual([code, warned], [0, ['/models/one/targets/0', '/models/one/fallbacks/0']]);
    });

    it('warns about base URLs that end too early or too late for what the gateway appends', async () => {
      const at = (kind: string, baseUrl: string) => ({ kind, baseUrl });
      const { code, stdout } = await check({
        providers: {
          right: at('openai-compatible', 'http://127.0.0.1:11434/v1/'),
          known: at('openai-compatible', 'https://api.deepseek.com'),
          otherKind: at('anthropic', 'https://api.deepseek.com'),
          openrouter: at('openai-compatible', 'https://openrouter.ai/'),
          groq: at('openai-compatible', 'https://api.groq.com/chat/completions'),
          gemini: at('openai-compatible', 'https://generativelanguage.googleapis.com'),
          azure: at('openai-compatible', 'https://example.openai.azure.com'),
          bare: at('openai-compatible', 'https://api.openai.com'),
          query: at('openai-compatible', 'https://llm.example/?key=secret'),
          whole: at('openai-compatible', 'https://llm.example/api/v1/chat/completions'),
          only: at('anthropic', 'https://llm.example/messages/'),
          claude: at('anthropic', 'https://api.anthropic.com'),
          eleven: at('elevenlabs', 'https://api.elevenlabs.io/v1/text-to-speech/some-voice/stream'),
        },
      });
      const warnings = stdout.split('\n').filter((line) => line.includes('/baseUrl '));
      const unless = ", unless the provider's API has no path";
      assert.equal(code, 0);
      assert.deepEqual(warnings, [
        `warning: /providers/otherKind/baseUrl has no path, so the gateway calls https://api.deepseek.com/messages: write its whole base URL, such as https://api.deepseek.com/v1${unless}`,
        'warning: /providers/openrouter/baseUrl has no path, so the gateway calls https://openrouter.ai/chat/completions: write https://openrouter.ai/api/v1',
        'warning: /providers/groq/baseUrl ends with /chat/completions, which the gateway appends, so it calls https://api.groq.com/chat/completions/chat/completions: write https://api.groq.com/openai/v1',
        'warning: /providers/gemini/baseUrl has no path, so the gateway calls https://generativelanguage.googleapis.com/chat/completions: write https://generativelanguage.googleapis.com/v1beta/openai',
        'warning: /providers/azure/baseUrl has no path, so the gateway calls https://example.openai.azure.com/chat/completions: write https://example.openai.azure.com/openai/v1',
        'warning: /providers/bare/baseUrl has no path, so the gateway calls https://api.openai.com/chat/completions: write https://api.openai.com/v1',
        `warning: /providers/query/baseUrl has no path, so the gateway calls https://llm.example/chat/completions?…: write its whole base URL, such as https://llm.example/v1?…${unless}`,
        'warning: /providers/whole/baseUrl ends with /chat/completions, which the gateway appends, so it calls https://llm.example/api/v1/chat/completions/chat/completions: write https://llm.example/api/v1',
        'warning: /providers/only/baseUrl ends with /messages, which the gateway appends, so it calls https://llm.example/messages/messages: write its whole base URL, such as https://llm.example/v1',
        'warning: /providers/claude/baseUrl has no path, so the gateway calls https://api.anthropic.com/messages: write https://api.anthropic.com/v1',
        'warning: /providers/eleven/baseUrl ends with /text-to-speech/…/stream, which the gateway appends, so it calls https://api.elevenlabs.io/v1/text-to-speech/some-voice/stream/text-to-speech/…/stream: write https://api.elevenlabs.io/v1',
      ]);
    });

    it('names each issue of a configuration on a separate line', async () => {
      const { code, stdout, stderr } = await check({
        providers: { ...providers, openai: { kind: 'openai-compatible', apiKeyEnv: 'NOT_SET_HERE' } },
        models: { ...models, more: { targets: [{ provider: 'nobody', model: 'x' }] } },
        auto: { chat: { fast: 'large', smart: 'scribe' } },
      });
      assert.deepEqual([code, stdout], [1, '']);
      const issues = stderr.trimEnd().split('\n');
      assert.deepEqual(
        issues.map((line) => /^gateway: FILE: (\S+)/.exec(line)?.[1]),
        ['/providers/openai/apiKeyEnv', '/models/more/targets/0/provider', '/auto/chat/smart', '/auto/chat/balanced'],
      );
    });

    it('needs no variables of keys with --without-keys', async () => {
      const file = join(folder.path, 'gateway.json');
      const openai = { kind: 'openai-compatible', apiKeyEnv: 'NOT_SET_HERE' };
      writeFileSync(file, JSON.stringify({ providers: { ...providers, openai }, models }));
      assert.equal((await run('gateway.ts', ['check', file])).code, 1);
      const { code, stdout } = await run('gateway.ts', ['check', file, '--without-keys']);
      assert.deepEqual([code, stdout.replace(file, 'FILE')], [0, 'FILE is valid: 3 providers, 2 models, 0 voices\n']);
    });

    it('reports why a file is not a configuration', async () => {
      assert.match((await check('{')).stderr, /^gateway: FILE: the file is not JSON: [^\n]+\n$/);
      const missing = await run('gateway.ts', ['check', join(folder.path, 'nothing.json')]);
      assert.match(missing.stderr, /the file cannot be read \(ENOENT\)\n$/);
      assert.equal((await run('gateway.ts', ['check'])).code, 1);
    });
  });

  describe('npm run gateway -- import-litellm', () => {
    const importing = async (yaml: string) => {
      const file = join(folder.path, 'config.yaml');
      writeFileSync(file, yaml);
      const { code, stdout, stderr } = await run('gateway.ts', ['import-litellm', file]);
      return { code, stdout, stderr: stderr.replaceAll(file, 'FILE') };
    };

    it('prints a configuration that check accepts, and what is left out', async () => {
      const deployment = '{ model_name: m, litellm_params: { model: openai/m, api_key: sk-written, rpm: 5 } }';
      const { code, stdout, stderr } = await importing(`model_list: [${deployment}]`);
      assert.equal(code, 0);
      assert.match(stderr, /^left out: model_list\[0\]\.litellm_params\.rpm: .*\n(?:note: .*\n)+$/);
      assert.doesNotMatch(stdout + stderr, /sk-written/);
      const file = join(folder.path, 'gateway.json');
      writeFileSync(file, stdout);
      const checked = await run('gateway.ts', ['check', file, '--without-keys']);
      assert.deepEqual([checked.code, checked.stderr], [0, '']);
    });

    it('exits with 1 for a file that cannot be read, and for one without a model that can be converted', async () => {
      const unreadable = await importing('key: "sk-written');
      assert.deepEqual([unreadable.code, unreadable.stdout], [1, '']);
      assert.match(unreadable.stderr, /^gateway: FILE: line 1, column \d+: no valid YAML \(missing char\)\n$/);
      const none = await importing('general_settings: { master_key: sk-1 }');
      assert.deepEqual([none.code, none.stdout], [1, '']);
      assert.match(
        none.stderr,
        /^left out: general_settings\.master_key: .*\ngateway: FILE: no model could be converted\n$/,
      );
      assert.match((await importing('- a')).stderr, /^gateway: FILE: the file is not a map\n$/);
      const unknown = await run('gateway.ts', ['import-litellm', 'a.yaml', '--without-keys']);
      assert.match(unknown.stderr, /^gateway: it does not understand "--without-keys"; it takes nothing more/);
    });
  });

  it('rebuilds read models in its own process when no service runs', async () => {
    await (await new ServiceProcess({ dataDir: folder.path }).listening()).stop();
    const rebuilt = await run('projections.ts', ['rebuild', 'flows', 'projects']);
    assert.deepEqual([rebuilt.code, rebuilt.stderr, lines(rebuilt).length], [0, '', 2]);
  });

  it(`prints the first admin key when a tool initializes an empty store ${long}`, async () => {
    const listed = await run('projections.ts', ['list']);
    const [key = ''] = /sy_live_[A-Za-z0-9]+/.exec(listed.stdout) ?? [];
    const service = await new ServiceProcess({
      dataDir: folder.path,
      environment: { BOOTSTRAP_API_KEY: undefined },
    }).listening();
    const answer = await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': key } });
    await service.stop();
    assert.equal(answer.status, 200);
    assert.doesNotMatch(service.stdout, /sy_live_/);
  });

  it('refuses a DATA_DIR that does not exist, and creates nothing there', async () => {
    const missing = join(folder.path, 'typo');
    const listed = await run('processes.ts', ['list'], missing);
    assert.deepEqual([listed.code, listed.stdout], [1, '']);
    assert.match(listed.stderr, /^processes: DATA_DIR=\S+typo is not there: name the folder of the service\.\n$/);
    assert.ok(!existsSync(missing));
  });

  it('generates a key that the configuration accepts as BOOTSTRAP_API_KEY', async () => {
    const key = lines(await run('keys.ts', ['generate']))[0] ?? '';
    assert.match(key, /^sy_live_[A-Za-z0-9]{40,}$/);
    assert.equal(readConfig({ DATA_DIR: folder.path, BOOTSTRAP_API_KEY: key }).bootstrapApiKey, key);
  });

  it(`generates a key that is the admin key of a service that starts with it as BOOTSTRAP_API_KEY ${long}`, async () => {
    const key = lines(await run('keys.ts', ['generate']))[0] ?? '';
    const environment = { BOOTSTRAP_API_KEY: key };
    const service = await new ServiceProcess({ dataDir: folder.path, environment }).listening();
    const answer = await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': key } });
    await service.stop();
    assert.equal(answer.status, 200);
    assert.equal((await run('keys.ts', [])).code, 1);
  });

  it(`creates another admin key when no service runs ${long}`, async () => {
    const alone = await run('keys.ts', ['admin']);
    assert.equal(alone.code, 0, alone.stderr);
    const key = lines(alone).at(-1) ?? '';
    const service = await new ServiceProcess({ dataDir: folder.path }).listening();
    try {
      assert.equal((await service.client.as(key).get('/v1/me')).status, 200);
    } finally {
      await service.stop();
    }
  });
});
