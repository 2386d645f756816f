import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { MemberProbes, mark, type Probe } from '#test/gateway/support/member-probes.ts';
import { readRequestMembers } from '#test/gateway/support/request-members.ts';
import { openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { long } from '#test/support/run/long.ts';
import clientsPackage from '../../clients/package.json' with { type: 'json' };

const hi = { role: 'user', content: 'hi' };

/** How a client's protocol is asked. */
interface Client {
  readonly protocol: string;
  readonly path: string;
  readonly base: JsonObject;
  /** A message or an item between those that it needs. */
  readonly conversation: (message: JsonObject) => ReadonlyArray<Json>;
}

const chatCall = (id: Json) => ({ id, type: 'function', function: { name: 'base', arguments: '{}' } });
const objects = (value: Json | undefined) => (Array.isArray(value) ? value.filter(isObject) : []);

/** Two tools, so that a choice can name one. */
const toolsOf = (declare: (name: string) => JsonObject) => ['base', 'other'].map(declare);

const chat: Client = {
  protocol: 'openai-chat',
  path: '/v1/chat/completions',
  base: { messages: [hi], tools: toolsOf((name) => ({ type: 'function', function: { name } })) },
  conversation: (message) => {
    const { role, tool_call_id: id, tool_calls: calls } = message;
    if (role === 'tool') return [hi, { role: 'assistant', tool_calls: [chatCall(id ?? 'base')] }, message];
    const results = objects(calls).map((call) => ({ role: 'tool', tool_call_id: call.id ?? null, content: 'ok' }));
    return role === 'assistant' ? [hi, message, ...results, hi] : [message];
  },
};

const messages: Client = {
  protocol: 'anthropic-messages',
  path: '/v1/messages',
  base: { max_tokens: 5_000, messages: [hi], tools: toolsOf((name) => ({ name, input_schema: { type: 'object' } })) },
  conversation: (message) => {
    const blocks = objects(message.content);
    const call = (id: Json) => ({ type: 'tool_use', id, name: 'base', input: {} });
    const called = blocks.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [call(id ?? 'base')] : []));
    const results = blocks.flatMap(({ type, id }) =>
      type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id ?? null, content: 'ok' }] : [],
    );
    return [
      ...(called.length > 0 ? [hi, { role: 'assistant', content: called }] : []),
      message,
      ...(results.length > 0 ? [{ role: 'user', content: results }] : []),
    ];
  },
};

const responses: Client = {
  protocol: 'openai-responses',
  path: '/v1/responses',
  base: { input: 'hi', store: false, tools: toolsOf((name) => ({ type: 'function', name })) },
  conversation: (item) => {
    const { type, call_id: id = 'base' } = item;
    if (type === 'function_call') return [item, { type: 'function_call_output', call_id: id, output: 'ok' }];
    if (type === 'custom_tool_call') return [item, { type: 'custom_tool_call_output', call_id: id, output: 'ok' }];
    if (type === 'function_call_output')
      return [{ type: 'function_call', call_id: id, name: 'base', arguments: '{}' }, item];
    if (type === 'custom_tool_call_output')
      return [{ type: 'custom_tool_call', call_id: id, name: 'base', input: 'x' }, item];
    return [hi, item, hi];
  },
};

/** A translation: a client's protocol, its target, and members that it must name or carry. */
interface Translation {
  readonly client: Client;
  /** Whether it is in `npm test`, as the sample of all. */
  readonly isShort?: boolean;
  readonly target: Target;
  readonly named: ReadonlyArray<string>;
  readonly carried: ReadonlyArray<string>;
}
type Target = 'chat' | 'claude' | 'responses';

const translations: ReadonlyArray<Translation> = [
  {
    client: chat,
    target: 'claude',
    isShort: true,
    named: ['/tools/*/function/strict', '/messages/*/content/*/image_url/detail', '/messages/*/name', '/seed'],
    carried: ['/tools/*/function/parameters', '/messages/*/content/*/file/filename', '/tool_choice', '/stop'],
  },
  {
    client: messages,
    target: 'chat',
    named: [
      '/messages/*/content/*/context',
      '/messages/*/content/*/cache_control',
      '/tools/*/defer_loading',
      '/metadata/user_id',
    ],
    carried: ['/tools/*/strict', '/messages/*/content/*/title', '/tool_choice/disable_parallel_tool_use'],
  },
  {
    client: { ...messages, protocol: 'anthropic-messages-beta' },
    target: 'chat',
    named: [
      '/messages/*/output_config/effort',
      '/context_management/edits',
      '/mcp_servers',
      '/output_config/task_budget',
    ],
    carried: ['/output_config/format', '/system'],
  },
  {
    client: responses,
    target: 'chat',
    named: ['/input/*/phase', '/input/*/status', '/input/*/content/*/annotations', '/reasoning/summary'],
    carried: ['/tools/*/strict', '/input/*/content/*/detail', '/text/format/description', '/input/*/output'],
  },
  {
    client: responses,
    target: 'claude',
    named: ['/tools/*/strict', '/input/*/content/*/detail', '/text/format/description', '/tools/*/format'],
    carried: ['/input/*/content/*/filename', '/instructions', '/max_output_tokens'],
  },
  {
    client: chat,
    target: 'responses',
    named: ['/stop', '/seed', '/messages/*/name', '/verbosity'],
    carried: [
      '/tools/*/function/strict',
      '/messages/*/content/*/image_url/detail',
      '/messages/*/content/*/file/filename',
    ],
  },
  {
    client: messages,
    target: 'responses',
    named: ['/messages/*/content/*/cache_control', '/messages/*/content/*/is_error', '/tools/*/strict'],
    carried: ['/messages/*/content/*/title', '/thinking', '/system'],
  },
];

/** What may vanish unsaid: a member, of which values (all without a list), and why. */
const unsaid: ReadonlyArray<readonly [RegExp, string, ReadonlyArray<Json>?]> = [
  [/\/type$/, 'it says what an object is, and the object arrives'],
  [/^\/input\/\*\/id$/, 'it only names an item, for the gateway'],
  [/^\/(store|metadata)$/, 'the gateway keeps the response, and its answer has them'],
  [/^\/stream_options\/include_usage$/, 'the gateway gives the usage'],
  [/^\/(text\/format|response_format\/json_schema)\/(name|strict)$/, 'Anthropic’s forms have no names, and are strict'],
  [/\/tool_choice$/, 'the default', ['auto', { type: 'auto' }]],
  [/\/parallel_tool_calls$/, 'the default', [true]],
  [/\/service_tier$/, 'the default', ['auto', 'default']],
  [/\/truncation$/, 'the default', ['disabled']],
  [/\/modalities$/, 'the default', [['text']]],
  [/\/(response_)?format$/, 'the default', [{ type: 'text' }]],
  [/\/verbosity$/, 'the default', ['medium']],
  [/\/detail$/, 'the default', ['auto']],
  [/\/status$/, 'the default', ['completed']],
  [/\/caller$/, 'the default', [{ type: 'direct' }]],
  [/\/allowed_callers$/, 'the default', [['direct']]],
  [/\/thinking$/, 'the default', [{ type: 'disabled' }]],
  [/\/environment$/, 'the default of a shell that other targets get', [{ type: 'local' }]],
  [/\/max_output_length$/, 'it says how the client cut the output, which arrives'],
  [/[/_]effort$/, 'the default of a target that is asked to think', ['none']],
  [/\/include$/, 'the gateway gives it where a target does', [['reasoning.encrypted_content']]],
];

function isUnsaid({ pointer, value }: Probe): boolean {
  if (value === null || value === false || isDeepStrictEqual(value, {})) return true;
  return unsaid.some(
    ([place, , values]) => place.test(pointer) && (values?.some((each) => isDeepStrictEqual(each, value)) ?? true),
  );
}

type Outcome = 'carried' | 'named' | 'refused' | 'lost';

describe('the members of requests that the SDKs list', () => {
  const all = readRequestMembers();
  let openai: FakeProvider;
  let anthropic: FakeProvider;
  let thinker: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [openai, anthropic, thinker] = await Promise.all([
      FakeProvider.start(),
      FakeProvider.start(),
      FakeProvider.start(),
    ]);
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl },
        anthropic: { kind: 'anthropic', baseUrl: anthropic.baseUrl },
        thinker: { kind: 'openai-compatible', baseUrl: thinker.baseUrl, responses: true },
      },
      models: {
        chat: { targets: [{ provider: 'openai', model: 'gpt-x', reasoning: true }] },
        responses: {
          targets: [{ provider: 'thinker', model: 'gpt-x', protocol: 'openai-responses', reasoning: true }],
        },
        claude: { targets: [{ provider: 'anthropic', model: 'claude-x', thinking: 'budget', maxOutputTokens: 9_000 }] },
      },
    });
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x', stop_reason: 'end_turn' };
    openai.answers(json(completion('ok')));
    thinker.answers(json(openAiResponse([outputMessage('ok')])));
    anthropic.answers(json({ ...message, content: [{ type: 'text', text: 'ok' }], usage: { input_tokens: 1 } }));
  });
  after(() => Promise.all([service.stop(), openai.stop(), anthropic.stop(), thinker.stop()]));

  const send = async ({ client, target }: Translation, body: JsonObject, headers = {}) => {
    const { seen } = { chat: openai, claude: anthropic, responses: thinker }[target];
    seen.length = 0;
    const { status, headers: answered } = await post(service, client.path, { ...body, model: target }, headers);
    const named = (answered.get('x-switchyard-ignored') ?? '').split(', ').filter((name) => name !== '');
    assert.equal(seen.length, status === 200 ? 1 : 0, 'a refusal comes before any call');
    assert.ok(status === 200 || (status >= 400 && status < 500), String(status));
    return { status, named, sent: seen[0]?.body.toString() ?? '' };
  };

  /** Whether a member is at the provider: its mark, or what else is there because of it. */
  const isCarried = async (translation: Translation, sent: string, { value, without }: Probe): Promise<boolean> => {
    if (JSON.stringify(value).includes(mark)) return sent.includes(mark);
    for (const body of without) if ((await send(translation, body)).sent !== sent) return true;
    return false;
  };

  /** What becomes of a member, and what its answer names. */
  const outcomeOf = async (
    translation: Translation,
    probe: Probe,
  ): Promise<{ outcome: Outcome; named: ReadonlyArray<string> }> => {
    const { status, named, sent } = await send(translation, probe.body);
    if (status !== 200) return { outcome: 'refused', named };
    const { pointer } = probe;
    if (named.some((name) => `${pointer}/`.startsWith(`${name}/`))) return { outcome: 'named', named };
    return { outcome: (await isCarried(translation, sent, probe)) ? 'carried' : 'lost', named };
  };

  for (const translation of translations) {
    const ending = translation.isShort === true ? '' : ` ${long}`;
    it(`of ${translation.client.protocol} reach a target of ${translation.target}, or are named or refused${ending}`, async function () {
      this.timeout(60_000);
      const { types, request } = all[translation.client.protocol] ?? assert.fail('the fixture lacks a protocol');
      const found: Record<Outcome, Set<string>> = {
        carried: new Set(),
        named: new Set(),
        refused: new Set(),
        lost: new Set(),
      };
      const visit = async (probe: Probe): Promise<void> => {
        const { outcome, named } = await outcomeOf(translation, probe);
        // A value of which all is named may be gone itself.
        const isEmpty = named.some((name) => name.startsWith(`${probe.pointer}/`));
        const isSilent = outcome === 'lost' && (isEmpty || isUnsaid(probe));
        if (!isSilent)
          found[outcome].add(outcome === 'lost' ? `${probe.pointer} ${JSON.stringify(probe.value)}` : probe.pointer);
        const strict = await send(translation, probe.body, { prefer: 'handling=strict' });
        const isTaken = outcome !== 'refused' && named.length === 0;
        assert.equal(strict.status === 200, isTaken, `${probe.pointer} is ${outcome}, and strictly ${strict.status}`);
        assert.deepEqual(strict.named, []);
        if (outcome === 'carried' || isSilent) for (const inside of probe.inside()) await visit(inside);
      };
      const { client } = translation;
      // The gateway itself obeys these.
      for (const probe of new MemberProbes(types, client.conversation).of(request, client.base))
        if (probe.pointer !== '/model' && probe.pointer !== '/stream') await visit(probe);
      assert.deepEqual([...found.lost], []);
      assert.deepEqual(
        translation.named.filter((pointer) => !found.named.has(pointer)),
        [],
      );
      assert.deepEqual(
        translation.carried.filter((pointer) => !found.carried.has(pointer)),
        [],
      );
    });
  }

  it('are those of the versions that are pinned: after an upgrade, `npm run request-members` shows what is new', () => {
    const pinned: Readonly<Record<string, string>> = clientsPackage.devDependencies;
    for (const { sdk, version } of Object.values(all)) assert.equal(version, pinned[sdk], sdk);
  });
});
