import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askingChat, askingClaude, declaredTo, historyOf } from '#test/gateway/support/asking-provider.ts';
import { FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { type Body, listOf, parsedBody } from '#test/gateway/support/strict-provider.ts';
import { openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';

/** What Codex 0.171 sends as its last request of two turns, with an MCP server `desk`; long texts are cut. */
const requests = ['unknown', 'gpt-5.5-codex', 'gpt-5.6-terra'] as const;
type Request = (typeof requests)[number];

function recorded(name: Request): Body {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../../fixtures/codex/${name}.json`), 'utf8')) as Body;
}

const script = 'const r = await tools.mcp__desk__opening_hours({day:"Monday"}); text(r);';
const monday = { day: 'Monday' };
const byMcp = { name: 'mcp__desk__opening_hours', given: JSON.stringify(monday) };
const mcpItem = { type: 'function_call', namespace: 'mcp__desk', name: 'opening_hours', arguments: byMcp.given };
const search = { query: 'opening hours of the desk', limit: 3 };

/** For each request what a target of another protocol gets, and how the client gets the calls of its model. */
const expected = {
  unknown: {
    tools: ['exec_command', 'multi_agent_v1__spawn_agent', byMcp.name, 'update_goal'],
    count: 16,
    calls: [
      [byMcp.name, monday],
      [byMcp.name, monday],
    ],
    asked: [byMcp],
    items: [mcpItem],
  },
  'gpt-5.5-codex': {
    tools: ['exec_command', 'apply_patch', 'tool_search', byMcp.name],
    count: 13,
    calls: [
      ['tool_search', search],
      [byMcp.name, monday],
      [byMcp.name, monday],
    ],
    asked: [
      byMcp,
      { name: 'tool_search', given: JSON.stringify(search) },
      { name: 'apply_patch', given: '{"input":"*"}' },
    ],
    items: [
      mcpItem,
      { type: 'tool_search_call', execution: 'client', arguments: search },
      { type: 'custom_tool_call', name: 'apply_patch', input: '*' },
    ],
  },
  'gpt-5.6-terra': {
    tools: ['exec', 'wait', 'request_user_input', 'collaboration__spawn_agent'],
    count: 9,
    calls: [
      ['exec', { input: script }],
      ['exec', { input: script }],
    ],
    asked: [
      { name: 'exec', given: JSON.stringify({ input: script }) },
      { name: 'collaboration__list_agents', given: '{}' },
      { name: 'wait', given: '{"cell_id":"1"}' },
    ],
    items: [
      { type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: script },
      { type: 'function_call', namespace: 'collaboration', name: 'list_agents', arguments: '{}' },
      { type: 'function_call', namespace: 'functions', name: 'wait', arguments: '{"cell_id":"1"}' },
    ],
  },
} as const;

describe('what Codex sends', () => {
  const [chat, claude] = [askingChat(), askingClaude()];
  let openai: FakeProvider;
  let ofChat: FakeProvider;
  let ofClaude: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [openai, ofChat, ofClaude] = await Promise.all([FakeProvider.start(), FakeProvider.start(), FakeProvider.start()]);
    ofChat.answers(chat.behaviour);
    ofClaude.answers(claude.behaviour);
    const key = { apiKeyEnv: 'PROVIDER_KEY' };
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl, responses: true, ...key },
        chat: { kind: 'openai-compatible', baseUrl: ofChat.baseUrl, ...key },
        anthropic: { kind: 'anthropic', baseUrl: ofClaude.baseUrl, ...key },
      },
      models: {
        native: { targets: [{ provider: 'openai', model: 'gpt-x' }] },
        chat: { targets: [{ provider: 'chat', model: 'gpt-y' }] },
        claude: { targets: [{ provider: 'anthropic', model: 'claude-x' }] },
      },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([openai.stop(), ofChat.stop(), ofClaude.stop()]);
  });

  for (const name of requests) {
    it(`reaches a provider of Responses but for web search, for the model ${name}`, async () => {
      openai.answers(json(openAiResponse([outputMessage('ok')])));
      const { tools, ...body } = recorded(name);
      const answer = await post(service, '/v1/responses', { ...body, tools, model: 'native', stream: false });
      assert.equal(answer.status, 200, answer.text);
      const seen = openai.seen.at(-1) ?? assert.fail();
      const kept = listOf(tools).filter(({ type }) => type !== 'web_search');
      const expectedBody = { ...body, model: 'gpt-x', stream: false, ...(tools === undefined ? {} : { tools: kept }) };
      assert.deepEqual(parsedBody(seen), expectedBody);
    });

    for (const [model, provider] of [
      ['chat', chat],
      ['claude', claude],
    ] as const)
      it(`reaches a target ${model} with all tools and calls, whole and streamed, for the model ${name}`, async () => {
        const { tools, count, calls, asked, items } = expected[name];
        provider.next = () => asked;
        for (const stream of [false, true]) {
          const answer = await post(service, '/v1/responses', { ...recorded(name), model, stream });
          assert.deepEqual([answer.status, provider.refusals], [200, []], answer.text);
          const declared = declaredTo(provider);
          assert.equal(declared.size, count, [...declared.keys()].join());
          for (const tool of tools) assert.ok(declared.has(tool), tool);
          const history = historyOf(provider);
          assert.deepEqual(history.calls, calls);
          assert.equal(history.results.filter((text) => text.includes('nine to five')).length, 2);
          const output = stream ? outputOf(answer.text) : listOf((answer.json() as Body).output);
          assert.deepEqual(
            output.map(({ id: _, status, call_id: _call, ...item }) => (status === 'completed' ? item : status)),
            items,
          );
        }
      });
  }

  it('declares the tools that a search found with their schemas as they came', async () => {
    chat.next = () => [byMcp];
    await post(service, '/v1/responses', { ...recorded('gpt-5.5-codex'), model: 'chat', stream: false });
    const { description, parameters } = declaredTo(chat).get(byMcp.name) ?? {};
    assert.equal(description, 'When the desk is open');
    assert.deepEqual(parameters, { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] });
    assert.ok(historyOf(chat).results.includes(JSON.stringify({ tools: [byMcp.name] })));
  });
});

/** The output in the last event. */
function outputOf(events: string): ReadonlyArray<Body> {
  const last = JSON.parse(/data: (.*)\n\n$/.exec(events)?.[1] ?? '{}') as { readonly response?: Body };
  return listOf(last.response?.output);
}
