import assert from 'node:assert/strict';
import {
  type AskedCall,
  type AskingProvider,
  askingChat,
  askingClaude,
  declaredTo,
  historyOf,
} from '#test/gateway/support/asking-provider.ts';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { type Body, listOf } from '#test/gateway/support/strict-provider.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

const parameters = { type: 'object', properties: {} };
const look = { type: 'function', name: 'look', parameters };
const inDesk = (...tools: ReadonlyArray<object>) => ({ type: 'namespace', name: 'desk', description: '', tools });
const builtIn = [
  { type: 'tool_search', execution: 'client', description: 'Finds tools', parameters },
  { type: 'local_shell' },
  { type: 'shell', environment: { type: 'local' } },
  { type: 'apply_patch' },
];
const search = { query: 'hours' };
const exec = { command: ['ls', '-l'], timeout_ms: 5 };
const commands = { commands: ['ls', 'pwd'], timeout_ms: null, max_output_length: 9 };
const patch = { type: 'update_file', path: 'a.txt', diff: '@@\n-a\n+b' };

/** The calls of a history, with what a target of another protocol gets. */
const called: ReadonlyArray<readonly [object, readonly [string, object]]> = [
  [{ type: 'function_call', namespace: 'gone', name: 'look', arguments: '{}' }, ['gone__look', {}]],
  [{ type: 'custom_tool_call', namespace: 'desk', name: 'say', input: 'x' }, ['desk__say', { input: 'x' }]],
  [{ type: 'tool_search_call', execution: 'client', arguments: search }, ['tool_search', search]],
  [
    { type: 'local_shell_call', id: 'lsh_1', action: { type: 'exec', env: {}, ...exec } },
    ['local_shell', { env: {}, ...exec }],
  ],
  [{ type: 'shell_call', action: commands, environment: { type: 'local' } }, ['shell', commands]],
  [{ type: 'apply_patch_call', status: 'completed', operation: patch }, ['apply_patch', patch]],
];
const output = [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }];
const results: ReadonlyArray<readonly [object, string]> = [
  [{ type: 'function_call_output', output: 'one' }, 'one'],
  [{ type: 'custom_tool_call_output', output: 'two' }, 'two'],
  [{ type: 'tool_search_output', execution: 'client', tools: [inDesk(look)] }, '{"tools":["desk__look"]}'],
  [{ type: 'local_shell_call_output', id: 'lsh_1', call_id: undefined, output: 'three' }, 'three'],
  [{ type: 'shell_call_output', output, max_output_length: 9 }, JSON.stringify(output)],
  [{ type: 'apply_patch_call_output', status: 'completed' }, 'completed'],
];
const history = called.flatMap(([call], index) => [
  { call_id: `c${index}`, ...call },
  { call_id: `c${index}`, ...results[index]?.[0] },
]);

/** What a model asks for, with the item that the client gets. */
const asked: ReadonlyArray<readonly [AskedCall, object]> = [
  [
    { name: 'desk__look', given: '{}' },
    { type: 'function_call', namespace: 'desk', name: 'look', arguments: '{}' },
  ],
  [
    { name: 'tool_search', given: JSON.stringify(search) },
    { type: 'tool_search_call', execution: 'client', arguments: search },
  ],
  [
    { name: 'local_shell', given: JSON.stringify(exec) },
    { type: 'local_shell_call', action: { type: 'exec', env: {}, ...exec } },
  ],
  [
    { name: 'shell', given: JSON.stringify(commands) },
    { type: 'shell_call', action: commands, environment: { type: 'local' } },
  ],
  [
    { name: 'apply_patch', given: JSON.stringify(patch) },
    { type: 'apply_patch_call', operation: patch },
  ],
];

describe('tools that run at a client of Responses, on targets of other protocols', () => {
  const [chat, claude] = [askingChat(), askingClaude()];
  let providers: ReadonlyArray<FakeProvider>;
  let service: GatewayService;

  before(async () => {
    const [ofChat, ofClaude] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    providers = [ofChat, ofClaude];
    ofChat.answers(chat.behaviour);
    ofClaude.answers(claude.behaviour);
    const key = { apiKeyEnv: 'PROVIDER_KEY' };
    service = await startGateway({
      providers: {
        chat: { kind: 'openai-compatible', baseUrl: ofChat.baseUrl, ...key },
        anthropic: { kind: 'anthropic', baseUrl: ofClaude.baseUrl, ...key },
      },
      models: {
        chat: { targets: [{ provider: 'chat', model: 'gpt-y' }] },
        claude: { targets: [{ provider: 'anthropic', model: 'claude-x' }] },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all(providers.map((provider) => provider.stop()));
  });
  beforeEach(() => {
    for (const provider of [chat, claude]) provider.next = () => [];
  });

  const send = (model: string, body: object) => post(service, '/v1/responses', { model, input: 'hi', ...body });
  const targets: ReadonlyArray<readonly [string, AskingProvider]> = [
    ['chat', chat],
    ['claude', claude],
  ];

  for (const [model, provider] of targets) {
    it(`given calls of every form when they are sent to ${model} then they and their results have one name each`, async () => {
      const tools = [inDesk(look, { type: 'custom', name: 'say' }), ...builtIn];
      const answer = await send(model, { store: false, tools, input: [{ role: 'user', content: 'hi' }, ...history] });
      assert.deepEqual([answer.status, provider.refusals], [200, []], answer.text);
      assert.deepEqual(historyOf(provider), {
        calls: called.map(([, given]) => given),
        results: results.map(([, text]) => text),
      });
      assert.equal(answer.headers.get('x-switchyard-ignored'), null);
    });

    it(`given calls of every form when ${model} asks for them then they come back as declared, stored and replayed`, async () => {
      const tools = [inDesk(look), ...builtIn];
      provider.next = () => asked.map(([call]) => call);
      for (const stream of [false, true]) {
        const answer = await send(model, { tools, stream });
        const { id, output: items } = stream ? lastResponse(answer.text) : (answer.json() as Body);
        const got = listOf(items).map(({ id: _, call_id: _call, status, ...item }) =>
          status === 'completed' ? item : status,
        );
        assert.deepEqual(
          got,
          asked.map(([, item]) => item),
        );
        const headers = { authorization: `Bearer ${goodKey}` };
        const stored = (await (await fetch(`${service.url}/v1/responses/${id}`, { headers })).json()) as Body;
        assert.deepEqual(stored.output, items);
        const replayed = await (await fetch(`${service.url}/v1/responses/${id}?stream=true`, { headers })).text();
        assert.deepEqual(lastResponse(replayed).output, items);
        if (stream) assert.deepEqual(eventTypes(replayed), eventTypes(answer.text));
        const outputs = listOf(items).map(({ call_id: callId }) => ({
          type: 'function_call_output',
          call_id: callId,
          output: 'ok',
        }));
        provider.next = () => [];
        const next = await send(model, { tools, previous_response_id: id, input: outputs });
        assert.equal(next.status, 200, next.text);
        assert.deepEqual(
          historyOf(provider).calls.map((call) => (call as ReadonlyArray<unknown>)[0]),
          asked.map(([{ name }]) => name),
        );
        provider.next = () => asked.map(([call]) => call);
      }
    });

    it(`given a choice of a tool in a namespace or of a built-in one when it is sent to ${model} then it names the function`, async () => {
      const tools = [inDesk(look), look, ...builtIn];
      const chosen = async (choice: object) => {
        await send(model, { store: false, tools, tool_choice: choice });
        return JSON.stringify([provider.seen.tool_choice, [...declaredTo(provider).keys()]]);
      };
      assert.match(await chosen({ type: 'function', namespace: 'desk', name: 'look' }), /"name":"desk__look"/);
      assert.match(await chosen({ type: 'apply_patch' }), /"name":"apply_patch"/);
      const some = {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'shell' }, { type: 'function', namespace: 'desk', name: 'look' }],
      };
      assert.match(await chosen(some), /\["desk__look","shell"\]\]$/);
    });
  }

  it('given arguments that do not fit when a model asks for a built-in tool then the call does nothing', async () => {
    const faulty = (given: string) =>
      ['tool_search', 'local_shell', 'shell', 'apply_patch'].map((name) => ({ name, given }));
    for (const given of ['[1]', '"text"', 'no JSON', '{"commands":5,"command":null,"path":[]}'])
      for (const stream of [false, true]) {
        chat.next = () => faulty(given);
        const answer = await send('chat', { store: false, tools: builtIn, stream });
        const { output: items } = stream ? lastResponse(answer.text) : (answer.json() as Body);
        const [, shell, commandsOf, patched] = listOf(items);
        assert.deepEqual(shell?.action, { type: 'exec', command: [], env: {} }, answer.text);
        assert.deepEqual(commandsOf?.action, { commands: [], timeout_ms: null, max_output_length: null });
        assert.deepEqual(patched?.operation, { type: 'update_file', path: '', diff: '' });
      }
  });

  const actionsFor = async (...calls: ReadonlyArray<AskedCall>) => {
    chat.next = () => calls;
    const answer = await send('chat', { store: false, tools: builtIn });
    return listOf((answer.json() as Body).output).map(({ action }) => action as Body);
  };

  it('given a command with numbers when a model asks for it then they are its texts, and no part of it is lost', async () => {
    const [head, nested, commandsOf] = await actionsFor(
      { name: 'local_shell', given: '{"command":["head","-n",5,true,"f"]}' },
      { name: 'local_shell', given: '{"command":["rm",["-r"],"f"]}' },
      { name: 'shell', given: '{"commands":["ls",null]}' },
    );
    assert.deepEqual(head?.command, ['head', '-n', '5', 'true', 'f']);
    assert.deepEqual([nested?.command, commandsOf?.commands], [[], []]);
  });

  it('given a limit that is no whole number when a model asks for a command then the call has none', async () => {
    for (const faulty of ['1000.5', '-1', '1e300', '"9"', 'null']) {
      const [local, commandsOf] = await actionsFor(
        { name: 'local_shell', given: `{"command":["ls"],"timeout_ms":${faulty}}` },
        { name: 'shell', given: `{"commands":["ls"],"timeout_ms":${faulty},"max_output_length":${faulty}}` },
      );
      assert.deepEqual(local, { type: 'exec', command: ['ls'], env: {} }, faulty);
      assert.deepEqual(commandsOf, { commands: ['ls'], timeout_ms: null, max_output_length: null }, faulty);
    }
  });

  it('given a function with the name of a built-in tool when both are declared then each has a name of its own', async () => {
    const shell = { type: 'function', name: 'shell', parameters };
    chat.next = () => [
      { name: 'openai__shell', given: '{"commands":["ls"]}' },
      { name: 'shell', given: '{}' },
    ];
    const answer = await send('chat', { store: false, tools: [shell, { type: 'shell' }] });
    assert.deepEqual([...declaredTo(chat).keys()], ['shell', 'openai__shell']);
    assert.deepEqual(
      listOf((answer.json() as Body).output).map(({ type }) => type),
      ['shell_call', 'function_call'],
    );
  });

  it('given tools that want the names of a built-in one when all are declared then each has a name of its own', async () => {
    const ofClient = [
      { type: 'custom', name: 'shell' },
      { type: 'namespace', name: 'openai', description: '', tools: [{ type: 'function', name: 'shell', parameters }] },
    ];
    const answer = await send('chat', { store: false, tools: [{ type: 'shell' }, ...ofClient] });
    assert.equal(answer.status, 200, answer.text);
    const names = [...declaredTo(chat).keys()];
    assert.deepEqual(names.slice(1), ['shell', 'openai__shell']);
    assert.match(names[0] ?? '', /^openai__shell_[0-9a-f]{8}$/);
  });

  it('given a tool that an item declares again when it is sent then the later one replaces the earlier', async () => {
    const again = { ...look, description: 'Later' };
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [inDesk(again)] },
      { role: 'user', content: 'hi' },
    ];
    await send('chat', { store: false, tools: [inDesk(look)], input });
    assert.deepEqual(
      [...declaredTo(chat)].map(([name, { description }]) => [name, description]),
      [['desk__look', 'Later']],
    );
  });

  it('given a call of a local shell without an id of its own when its output names the item then both are paired', async () => {
    const input = [
      { type: 'local_shell_call', id: 'lsh_1', call_id: null, status: 'completed', action: { type: 'exec', ...exec } },
      { type: 'local_shell_call_output', id: 'lsh_1', output: 'x' },
    ];
    const answer = await send('chat', { store: false, tools: builtIn, input });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(historyOf(chat), { calls: [['local_shell', exec]], results: ['x'] });
  });

  it('given a history with a call of a tool that is gone when a model calls it again then the client gets its own name', async () => {
    const gone = { type: 'function_call', namespace: 'mcp.desk', name: 'look', call_id: 'c1', arguments: '{}' };
    const patched = { type: 'apply_patch_call', call_id: 'c2', status: 'completed', operation: patch };
    const input = [
      ...[gone, { type: 'function_call_output', call_id: 'c1', output: 'ok' }],
      ...[patched, { type: 'apply_patch_call_output', call_id: 'c2', status: 'completed' }],
    ];
    const sent = { store: false, tools: [look], input };
    await send('chat', sent);
    const names = historyOf(chat).calls.map((call) => String((call as ReadonlyArray<unknown>)[0]));
    chat.next = () => names.map((name) => ({ name, given: '{}' }));
    const answer = await send('chat', sent);
    assert.deepEqual(
      listOf((answer.json() as Body).output).map(({ type, namespace, name }) => [type, namespace, name]),
      [
        ['function_call', 'mcp.desk', 'look'],
        ['apply_patch_call', undefined, undefined],
      ],
      answer.text,
    );
  });

  it('given what has no form elsewhere when it is sent then tools and compactions are named, and items of a computer refused', async () => {
    const tools = [
      look,
      { type: 'computer' },
      { type: 'not_known_yet' },
      { type: 'web_search' },
      { type: 'tool_search' },
    ];
    const input = [
      { role: 'user', content: 'hi' },
      { type: 'compaction', encrypted_content: 'x' },
      { type: 'compaction_trigger' },
      { type: 'tool_search_call', execution: 'server', call_id: null, arguments: {} },
    ];
    const answer = await send('chat', { store: false, tools, input });
    assert.deepEqual([answer.status, answer.headers.get('x-switchyard-ignored')], [200, '/tools/*, /input/*']);
    const refused = await send('chat', { store: false, input: [{ type: 'computer_call', call_id: 'a', action: {} }] });
    assert.equal(refused.status, 400);
  });
});

function lastResponse(events: string): Body {
  const last = JSON.parse(/data: (.*)\n\n$/.exec(events)?.[1] ?? '{}') as { readonly response?: Body };
  return last.response ?? assert.fail(events);
}

/** The types of events, each once for all pieces of a text. */
function eventTypes(events: string): ReadonlyArray<string> {
  const types = [...events.matchAll(/^event: (.*)$/gm)].map(([, type = '']) => type);
  return types.filter((type, index) => !type.endsWith('.delta') || type !== types[index - 1]);
}
