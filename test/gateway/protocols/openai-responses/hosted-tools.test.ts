import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { responsesTextRequest } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';

const target = { model: 'up', provider: 'openai', reasoning: false, hostedTools: false };
const named = { type: 'function', name: 'look', parameters: {} };
const hosted = [
  { type: 'web_search', external_web_access: true },
  { type: 'web_search_preview_2025_03_11' },
  { type: 'file_search', vector_store_ids: [] },
  { type: 'code_interpreter' },
  { type: 'mcp', server_label: 'desk' },
  { type: 'image_generation', output_format: 'png' },
  { type: 'shell', environment: { type: 'container_auto' } },
];
const ofClient = [
  named,
  { type: 'custom', name: 'patch' },
  { type: 'namespace', name: 'desk', description: '', tools: [named] },
  { type: 'tool_search', execution: 'client', description: 'Finds tools', parameters: {} },
  { type: 'local_shell' },
  { type: 'shell' },
  { type: 'shell', environment: { type: 'local' } },
  { type: 'apply_patch' },
  { type: 'computer' },
  { type: 'computer_use_preview' },
  { type: 'not_known_yet', environment: { type: 'container_auto' } },
];

async function requestOf(body: object) {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', store: false, input: 'hi', ...body }));
  const read = await readResponsesRequest(bytes, 100_000);
  assert.ok(E.isRight(read), JSON.stringify(read));
  return responsesTextRequest(read.right, null);
}

/** The members that a target gets, and the pointers that the answer names. */
async function sent(body: object, hostedTools = false) {
  const request = await requestOf(body);
  const to = { ...target, hostedTools };
  const refused = request.unsupportedBy(to, () => false);
  assert.equal(refused, null, JSON.stringify(refused));
  const { body: written, ignored } = request.changed({ target: to, asksUsage: false, continueFrom: null });
  return { got: JSON.parse(written.toString()), ignored };
}

async function refusalOf(body: object, isStrict = false) {
  return (await requestOf(body)).unsupportedBy(target, () => isStrict)?.pointer ?? null;
}

describe('tools of a request of Responses that passes as it came', () => {
  it('given tools that run at the client when the provider runs none of its own then all stay', async () => {
    const { got, ignored } = await sent({ tools: ofClient });
    assert.deepEqual([got.tools, ignored], [ofClient, []]);
  });

  it('given tools that run at OpenAI when the provider does not run them then they alone are cut and named', async () => {
    for (const tool of hosted) {
      const { got, ignored } = await sent({ tools: [named, tool, ...ofClient] });
      assert.deepEqual([got.tools, ignored], [[named, ...ofClient], ['/tools/1']], tool.type);
    }
    const all = await sent({ tools: hosted });
    assert.deepEqual([all.got.tools, all.ignored.length], [[], hosted.length]);
  });

  it('given tools that run at OpenAI when the provider runs them then all stay', async () => {
    const { got, ignored } = await sent({ tools: [...hosted, ...ofClient] }, true);
    assert.deepEqual([got.tools, ignored], [[...hosted, ...ofClient], []]);
  });

  it('given items that add tools when the provider runs none of its own then theirs are cut too', async () => {
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [hosted[0], named, hosted[3]] },
      { role: 'user', content: 'hi' },
      { type: 'tool_search_output', call_id: 'a', tools: [hosted[4]] },
      { type: 'additional_tools', role: 'developer', tools: ofClient },
    ];
    const { got, ignored } = await sent({ input });
    assert.deepEqual(
      got.input.map(({ tools }: { readonly tools?: object }) => tools),
      [[named], undefined, [], ofClient],
    );
    assert.deepEqual(ignored, ['/input/0/tools/0', '/input/0/tools/2', '/input/2/tools/0']);
    assert.equal(await refusalOf({ input }, true), '/input/0/tools/0');
  });

  it('given an item that has its tools twice when some are cut then the rest is JSON', async () => {
    const item = `{"type":"additional_tools","tools":[{"type":"mcp"}],"tools":[{"type":"mcp"},{"type":"custom","name":"a"}]}`;
    const bytes = Buffer.from(`{"model":"m","store":false,"input":[${item}]}`);
    const read = await readResponsesRequest(bytes, 100);
    assert.ok(E.isRight(read));
    const { body } = responsesTextRequest(read.right, null).changed({ target, asksUsage: false, continueFrom: null });
    assert.deepEqual(JSON.parse(body.toString()).input[0].tools, [{ type: 'custom', name: 'a' }]);
  });

  it('given a choice that forces a tool when it runs at OpenAI then the target cannot serve it', async () => {
    const tools = [...hosted, ...ofClient];
    for (const choice of hosted.slice(0, -1))
      assert.equal(await refusalOf({ tools, tool_choice: choice }), '/tool_choice', choice.type);
    assert.equal(await refusalOf({ tools: [hosted.at(-1)], tool_choice: { type: 'shell' } }), '/tool_choice');
  });

  it('given a choice that forces a tool when it runs at the client then it stays', async () => {
    for (const choice of [
      { type: 'function', name: 'look' },
      { type: 'custom', name: 'patch' },
      { type: 'shell' },
      { type: 'apply_patch' },
      { type: 'computer_use' },
      { type: 'not_known_yet' },
      'required',
    ])
      assert.deepEqual((await sent({ tools: ofClient, tool_choice: choice })).got.tool_choice, choice);
  });

  it('given a choice that allows a tool which is cut then it names no such tool', async () => {
    const look = { type: 'function', name: 'look' };
    const allowed = (mode: string, ...tools: ReadonlyArray<object>) => ({ type: 'allowed_tools', mode, tools });
    const tools = [...hosted, named];
    const some = await sent({ tools, tool_choice: allowed('auto', { type: 'web_search' }, look, { type: 'shell' }) });
    assert.deepEqual(some.got.tool_choice, allowed('auto', look));
    assert.deepEqual(some.ignored.slice(-2), ['/tool_choice/tools/0', '/tool_choice/tools/2']);
    const none = await sent({ tools, tool_choice: allowed('auto', { type: 'mcp', server_label: 'desk' }) });
    assert.deepEqual([none.got.tool_choice, none.ignored.at(-1)], ['none', '/tool_choice/tools/0']);
    const required = allowed('required', { type: 'mcp', server_label: 'desk' });
    assert.equal(await refusalOf({ tools, tool_choice: required }), '/tool_choice');
  });

  it('given a choice that demands a call when every tool is cut then the target cannot serve it', async () => {
    assert.equal(await refusalOf({ tools: hosted, tool_choice: 'required' }), '/tool_choice');
    assert.equal(await refusalOf({ tools: [...hosted, named], tool_choice: 'required' }), null);
    const input = [{ type: 'additional_tools', tools: [named] }];
    assert.equal(await refusalOf({ tools: hosted, input, tool_choice: 'required' }), null);
  });

  it('given an item that another provider made when it has tools to cut then it is left out whole', async () => {
    const foreign = {
      type: 'reasoning',
      tools: [...hosted, named],
      summary: [],
      encrypted_content: 'switchyard:other:0:x',
    };
    const [asked, more] = ['a', 'b'].map((content) => ({ role: 'user', content }));
    for (const input of [
      [asked, foreign, more],
      [foreign, asked, more],
      [asked, more, foreign],
    ])
      assert.deepEqual((await sent({ input })).got.input, [asked, more]);
  });
});
