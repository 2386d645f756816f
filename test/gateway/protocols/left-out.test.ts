import assert from 'node:assert/strict';
import { LeftOut } from '#gateway/protocols/left-out.ts';
import { completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

type Target = 'chat' | 'claude' | 'native';

/** The endpoints, each with the status of a request that no target can serve. */
const endpoints = {
  chat: { path: '/v1/chat/completions', refusal: 422 },
  messages: { path: '/v1/messages', refusal: 400 },
  responses: { path: '/v1/responses', refusal: 400 },
} as const;
type Endpoint = keyof typeof endpoints;

const hi = [{ role: 'user', content: 'hi' }];
const png = 'data:image/png;base64,iVBORw0KGgo=';
const schema = { type: 'object', properties: {} };
const closed = { ...schema, additionalProperties: false };
const parameters = { type: 'object', properties: { place: { type: 'string' } } };
const saying = (...content: ReadonlyArray<object>) => [{ role: 'user', content }];
const chat = (more: object) => ({ messages: hi, ...more });
const messages = (more: object) => ({ max_tokens: 9, messages: hi, ...more });
const responses = (more: object) => ({ input: 'hi', store: false, ...more });
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'aGVsbG8=' };
const text = { type: 'text', media_type: 'text/plain', data: 'hello' };

/** What is left out, and the pointers that the answer names. */
const named: ReadonlyArray<readonly [string, Endpoint, Target, object, string]> = [
  ...(
    [
      [
        'a strict function',
        { tools: [{ type: 'function', function: { name: 't', strict: true } }] },
        '/tools/*/function/strict',
      ],
      [
        'the detail of an image',
        { messages: saying({ type: 'image_url', image_url: { url: png, detail: 'low' } }) },
        '/messages/*/content/*/image_url/detail',
      ],
      ['the name of a user', { messages: [{ role: 'user', content: 'hi', name: 'Ann' }] }, '/messages/*/name'],
      [
        'marks of a cache beyond four',
        {
          messages: saying(
            ...['a', 'b', 'c', 'd', 'e'].map((said) => ({
              type: 'text',
              text: said,
              cache_control: { type: 'ephemeral' },
            })),
          ),
          tools: [{ type: 'function', function: { name: 't' }, cache_control: { type: 'ephemeral' } }],
        },
        '/messages/*/content/*/cache_control, /tools/*/cache_control',
      ],
      [
        'state of another provider in a call',
        {
          messages: [
            ...hi,
            {
              role: 'assistant',
              tool_calls: [
                { id: 'a', type: 'function', function: { name: 't', arguments: '{}' }, extra_content: { google: {} } },
              ],
            },
            { role: 'tool', tool_call_id: 'a', content: 'ok' },
          ],
        },
        '/messages/*/tool_calls/*/extra_content',
      ],
      [
        'reasoning of a form that is not known',
        {
          messages: [
            ...hi,
            { role: 'assistant', content: 'a', reasoning_details: [{ type: 'reasoning.text', text: 't' }] },
            ...hi,
          ],
        },
        '/messages/*/reasoning_details/*',
      ],
      [
        'the description of an answer',
        { response_format: { type: 'json_schema', json_schema: { name: 'a', description: 'b', schema } } },
        '/response_format/json_schema/description',
      ],
      ['padding of a stream', { stream_options: { include_obfuscation: true } }, '/stream_options/include_obfuscation'],
      ['a number that is a text', { temperature: '0.5' }, '/temperature'],
      ['an unknown member', { messages: [{ role: 'user', content: 'hi', new_member: 5 }] }, '/messages/*/new_member'],
    ] as const
  ).map(([what, more, pointers]) => [what, 'chat', 'claude', chat(more), pointers] as const),
  ...(
    [
      [
        'the title and the context of a text',
        { messages: saying({ type: 'document', title: 'a', context: 'b', source: text }) },
        '/messages/*/content/*/context, /messages/*/content/*/title',
      ],
      [
        'the context of a file',
        { messages: saying({ type: 'document', title: 'a', context: 'b', source: pdf }) },
        '/messages/*/content/*/context',
      ],
      [
        'that a document is to be cited',
        { messages: saying({ type: 'document', citations: { enabled: true }, source: pdf }) },
        '/messages/*/content/*/citations',
      ],
      [
        'the effort of one message',
        { messages: [{ role: 'user', content: 'hi', output_config: { effort: 'low' } }] },
        '/messages/*/output_config',
      ],
      ['how thoughts are shown', { thinking: { type: 'disabled', display: 'omitted' } }, '/thinking/display'],
      [
        'a budget of a task',
        { output_config: { task_budget: { type: 'tokens', total: 9 } } },
        '/output_config/task_budget',
      ],
      [
        'examples of a tool',
        { tools: [{ name: 't', input_schema: schema, input_examples: [{}] }] },
        '/tools/*/input_examples',
      ],
      [
        'what the result of a tool has',
        {
          messages: [
            ...hi,
            {
              role: 'assistant',
              content: [{ type: 'tool_use', id: 'a', name: 't', input: {}, caller: { type: 'x' } }],
            },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok', cache_control: { type: 'ephemeral' } }],
            },
          ],
        },
        '/messages/*/content/*/caller, /messages/*/content/*/cache_control',
      ],
    ] as const
  ).map(([what, more, pointers]) => [what, 'messages', 'chat', messages(more), pointers] as const),
  ...(
    [
      ['a strict function', 'claude', { tools: [{ type: 'function', name: 't', strict: true }] }, '/tools/*/strict'],
      [
        'the detail of an image',
        'claude',
        { input: saying({ type: 'input_image', image_url: png, detail: 'low' }) },
        '/input/*/content/*/detail',
      ],
      [
        'the phase of a message',
        'chat',
        {
          input: [
            ...hi,
            { role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'a' }] },
            ...hi,
          ],
        },
        '/input/*/phase',
      ],
      [
        'a status that is no end',
        'chat',
        { input: [{ type: 'message', role: 'user', content: 'hi', status: 'incomplete' }] },
        '/input/*/status',
      ],
      [
        'annotations of a text',
        'chat',
        {
          input: [
            ...hi,
            {
              role: 'assistant',
              content: [{ type: 'output_text', text: 'a', annotations: [{ type: 'url_citation' }] }],
            },
            ...hi,
          ],
        },
        '/input/*/content/*/annotations',
      ],
      [
        'the second place of a file',
        'claude',
        {
          input: saying({
            type: 'input_file',
            file_data: `data:application/pdf;base64,${pdf.data}`,
            file_url: 'https://example.com/a',
          }),
        },
        '/input/*/content/*/file_url',
      ],
      [
        'when a tool is loaded',
        'chat',
        { tools: [{ type: 'function', name: 't', defer_loading: true }] },
        '/tools/*/defer_loading',
      ],
    ] as const
  ).map(([what, target, more, pointers]) => [what, 'responses', target, responses(more), pointers] as const),
  [
    '"strict" of a function whose schema OpenAI would refuse',
    'messages',
    'chat',
    messages({ tools: [{ name: 't', strict: true, input_schema: parameters }] }),
    '/tools/*/strict',
  ],
];

/** What a target of another protocol gets, with what its body has. */
const carried: ReadonlyArray<readonly [string, Endpoint, Target, object, object]> = [
  [
    'a strict function of Messages',
    'messages',
    'chat',
    messages({ tools: [{ name: 't', strict: true, input_schema: closed }] }),
    { tools: [{ type: 'function', function: { name: 't', parameters: closed, strict: true } }] },
  ],
  ...(
    [
      ['a schema that OpenAI takes as a strict one', closed, true],
      ['a schema that it would refuse as a strict one', { ...parameters, additionalProperties: false }, null],
    ] as const
  ).map(([what, asked, strict]) => {
    const said = { name: 'answer', schema: asked, ...(strict === null ? {} : { strict }) };
    const format = { type: 'json_schema', schema: asked };
    const response_format = { type: 'json_schema', json_schema: said };
    return [what, 'messages', 'chat', messages({ output_config: { format } }), { response_format }] as const;
  }),
  [
    'a strict function of Responses',
    'responses',
    'chat',
    responses({ tools: [{ type: 'function', name: 't', strict: true, parameters: schema }] }),
    { tools: [{ type: 'function', function: { name: 't', parameters: schema, strict: true } }] },
  ],
  [
    'the detail of an image',
    'responses',
    'chat',
    responses({ input: saying({ type: 'input_image', image_url: png, detail: 'low' }) }),
    { messages: saying({ type: 'image_url', image_url: { url: png, detail: 'low' } }) },
  ],
  [
    'the title of a document',
    'messages',
    'chat',
    messages({ messages: saying({ type: 'document', title: 'a.pdf', source: pdf }) }),
    {
      messages: saying({
        type: 'file',
        file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf.data}` },
      }),
    },
  ],
  [
    'how an answer is described',
    'responses',
    'chat',
    responses({ text: { format: { type: 'json_schema', name: 'a', description: 'b', strict: false, schema } } }),
    { response_format: { type: 'json_schema', json_schema: { name: 'a', description: 'b', schema, strict: false } } },
  ],
];

/** What would arrive as nothing, with its place and the status of the endpoint. */
const refused: ReadonlyArray<readonly [string, Endpoint, object, string, RegExp]> = [
  [
    'the result of a tool that is an object',
    'responses',
    responses({
      input: [
        { type: 'function_call', call_id: 'a', name: 't', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: { ok: true } },
      ],
    }),
    '/input/1/output',
    /send JSON as a text/,
  ],
  [
    'the result of a custom tool that is a number',
    'responses',
    responses({
      input: [
        { type: 'custom_tool_call', call_id: 'a', name: 't', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'a', output: 5 },
      ],
    }),
    '/input/1/output',
    /send JSON as a text/,
  ],
  [
    'the result of a tool that is an object',
    'messages',
    messages({
      messages: [
        ...hi,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: { ok: true } }] },
      ],
    }),
    '/messages/2/content/0/content',
    /send JSON as a text/,
  ],
  [
    'the result of a tool that is an object',
    'chat',
    chat({
      messages: [
        ...hi,
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 't', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'a', content: { ok: true } },
      ],
    }),
    '/messages/2/content',
    /must be a string or a list/,
  ],
  [
    'a list of texts that are no parts',
    'responses',
    responses({ input: [{ role: 'user', content: ['hi'] }] }),
    '/input/0/content/0',
    /not a part/,
  ],
  [
    'a text of the system that is an object',
    'messages',
    messages({ system: { text: 'Be brief.' } }),
    '/system',
    /text or a list/,
  ],
  [
    'instructions that are a list',
    'responses',
    responses({ instructions: ['Be brief.'] }),
    '/instructions',
    /must be a text/,
  ],
  [
    'arguments that are an object',
    'chat',
    chat({
      messages: [
        ...hi,
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 't', arguments: { a: 1 } } }],
        },
      ],
    }),
    '/messages/1/tool_calls/0/function/arguments',
    /must be a text/,
  ],
  [
    'calls that are no list',
    'chat',
    chat({ messages: [...hi, { role: 'assistant', tool_calls: { id: 'a' } }] }),
    '/messages/1/tool_calls',
    /must be a list/,
  ],
  [
    'a call of the older form',
    'chat',
    chat({ messages: [...hi, { role: 'assistant', content: null, function_call: { name: 't', arguments: '{}' } }] }),
    '/messages/1/function_call',
    /send tool_calls/,
  ],
  ['tools that are no list', 'chat', chat({ tools: { type: 'function' } }), '/tools', /must be a list/],
  [
    'a tool in the form of Messages',
    'chat',
    chat({ tools: [{ name: 't', input_schema: parameters }] }),
    '/tools/0',
    /"type": "function", "function": \{/,
  ],
  [
    'a tool in the form of Responses',
    'chat',
    chat({ tools: [{ type: 'function', name: 't', parameters }] }),
    '/tools/0',
    /"function": \{"name"/,
  ],
  [
    'a tool in the form of Messages',
    'responses',
    responses({ tools: [{ name: 't', input_schema: parameters }] }),
    '/tools/0',
    /"parameters": …/,
  ],
  [
    'a tool in the form of chat completions',
    'responses',
    responses({ tools: [{ type: 'function', function: { name: 't', parameters } }] }),
    '/tools/0',
    /"name": …/,
  ],
  [
    'a tool in the form of chat completions',
    'messages',
    messages({ tools: [{ type: 'function', function: { name: 't', parameters } }] }),
    '/tools/0',
    /"input_schema": …/,
  ],
  [
    'a tool in the form of Responses',
    'messages',
    messages({ tools: [{ type: 'function', name: 't', parameters }] }),
    '/tools/0',
    /"input_schema": …/,
  ],
  [
    'a tool with the schema of a function',
    'messages',
    messages({ tools: [{ name: 't', parameters }] }),
    '/tools/0/parameters',
    /"input_schema" in this protocol/,
  ],
  [
    'a tool in the form of MCP',
    'messages',
    messages({ tools: [{ name: 't', inputSchema: parameters }] }),
    '/tools/0/inputSchema',
    /"input_schema" in this protocol/,
  ],
  [
    'a tool in the form of MCP',
    'responses',
    responses({ tools: [{ type: 'function', name: 't', parameters: null, inputSchema: parameters }] }),
    '/tools/0/inputSchema',
    /"parameters" in this protocol/,
  ],
  [
    'a function with the schema of Messages',
    'responses',
    responses({ tools: [{ type: 'function', name: 't', input_schema: parameters }] }),
    '/tools/0/input_schema',
    /"parameters" in this protocol/,
  ],
  [
    'a function with the schema of Messages',
    'chat',
    chat({ tools: [{ type: 'function', function: { name: 't', input_schema: parameters } }] }),
    '/tools/0/function/input_schema',
    /"parameters" in this protocol/,
  ],
  [
    'a custom tool with a schema',
    'responses',
    responses({ tools: [{ type: 'custom', name: 't', input_schema: parameters }] }),
    '/tools/0/input_schema',
    /takes a text/,
  ],
  [
    'a custom tool with a schema',
    'chat',
    chat({ tools: [{ type: 'custom', custom: { name: 't', parameters } }] }),
    '/tools/0/custom/parameters',
    /takes a text/,
  ],
  [
    'a schema that is a text',
    'chat',
    chat({ tools: [{ type: 'function', function: { name: 't', parameters: JSON.stringify(parameters) } }] }),
    '/tools/0/function/parameters',
    /must be a JSON Schema, which is an object/,
  ],
  [
    'a schema that is a text',
    'responses',
    responses({ tools: [{ type: 'function', name: 't', parameters: JSON.stringify(parameters) }] }),
    '/tools/0/parameters',
    /must be a JSON Schema, which is an object/,
  ],
  [
    'a schema that is a list',
    'messages',
    messages({ tools: [{ name: 't', input_schema: [] }] }),
    '/tools/0/input_schema',
    /must be a JSON Schema, which is an object/,
  ],
  [
    'a tool without a name',
    'messages',
    messages({ tools: [{ input_schema: schema }] }),
    '/tools/0/name',
    /name of a tool/,
  ],
  [
    'a call that is demanded of no tool',
    'responses',
    responses({ tools: [{ type: 'web_search' }], tool_choice: 'required' }),
    '/tool_choice',
    /gets no tool/,
  ],
];

describe('a translated request', () => {
  let openai: FakeProvider;
  let anthropic: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [openai, anthropic] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl },
        responses: { kind: 'openai-compatible', baseUrl: openai.baseUrl, responses: true },
        anthropic: { kind: 'anthropic', baseUrl: anthropic.baseUrl },
      },
      models: {
        chat: { targets: [{ provider: 'openai', model: 'gpt-x' }] },
        claude: { targets: [{ provider: 'anthropic', model: 'claude-x' }] },
        native: { targets: [{ provider: 'responses', model: 'gpt-x' }] },
      },
    });
  });
  after(() => Promise.all([service.stop(), openai.stop(), anthropic.stop()]));
  beforeEach(() => {
    openai.answers(json(completion('ok')));
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x', stop_reason: 'end_turn' };
    anthropic.answers(json({ ...message, content: [{ type: 'text', text: 'ok' }], usage: { input_tokens: 1 } }));
  });

  const send = (endpoint: Endpoint, model: Target, body: object, headers = {}) =>
    post(service, endpoints[endpoint].path, { model, ...body }, headers);
  const seenBy = (target: Target) => (target === 'claude' ? anthropic : openai).seen;

  for (const [what, endpoint, target, body, pointers] of named) {
    it(`names ${what} that a target of ${target} does not get from ${endpoint}`, async () => {
      const answer = await send(endpoint, target, body);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('x-switchyard-ignored'), pointers);
    });

    it(`is refused for ${what} on ${endpoint} if the client prefers strict handling`, async () => {
      const answer = await send(endpoint, target, body, { prefer: 'handling=strict' });
      assert.equal(answer.status, endpoints[endpoint].refusal, answer.text);
      assert.equal(seenBy(target).length, 0);
    });
  }

  for (const [what, endpoint, target, body, expected] of carried)
    it(`carries ${what} to a target of ${target}, and names nothing`, async () => {
      const answer = await send(endpoint, target, body, { prefer: 'handling=strict' });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('x-switchyard-ignored'), null);
      const sent = JSON.parse(seenBy(target)[0]?.body.toString() ?? '{}');
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(sent[name], value);
    });

  for (const [what, endpoint, body, pointer, message] of refused)
    it(`is refused for ${what} on ${endpoint}, with the place`, async () => {
      const target = endpoint === 'messages' ? 'chat' : 'claude';
      const answer = await send(endpoint, target, body);
      assert.equal(answer.status, endpoints[endpoint].refusal, answer.text);
      assert.ok(
        answer.text.includes(pointer) || answer.text.includes(JSON.stringify(pointer.split('/').slice(1))),
        answer.text,
      );
      const { error } = answer.json() as { readonly error: { readonly message: string } };
      assert.match(error.message, message);
      assert.equal(seenBy(target).length, 0);
    });

  it('says nothing of members that say nothing, or that only repeat what the target does', async () => {
    const content = [{ type: 'output_text', text: 'a', annotations: [], logprobs: [] }];
    const input = [
      ...saying({ type: 'input_image', image_url: png, detail: 'auto' }),
      { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content },
      ...hi,
    ];
    const more = {
      service_tier: 'auto',
      truncation: 'disabled',
      include: [],
      user: null,
      text: { verbosity: 'medium' },
    };
    const tools = [{ type: 'function', name: 't', strict: false, parameters: schema }];
    const answer = await send('responses', 'claude', responses({ input, tools, ...more }), {
      prefer: 'handling=strict',
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('x-switchyard-ignored'), null);
  });

  for (const [what, endpoint, body] of [
    ['empty objects on chat', 'chat', chat({ metadata: {}, logit_bias: {}, audio: {} })],
    ['empty objects on messages', 'messages', messages({ metadata: {}, context_management: {} })],
    ['empty objects on responses', 'responses', responses({ client_metadata: {}, prompt: {} })],
    [
      'the index of a call, which streams have',
      'chat',
      chat({
        messages: [
          ...hi,
          {
            role: 'assistant',
            tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 't', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'ok' },
        ],
      }),
    ],
    [
      'reasoning without text or signature',
      'responses',
      responses({ input: [...hi, { type: 'reasoning', summary: [] }, ...hi] }),
    ],
    [
      'thinking without text or signature',
      'messages',
      messages({
        messages: [
          ...hi,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: '', signature: '' },
              { type: 'text', text: 'a' },
            ],
          },
          ...hi,
        ],
      }),
    ],
  ] as const)
    it(`says nothing of ${what}, as it says nothing`, async () => {
      const target = endpoint === 'messages' ? 'chat' : 'claude';
      const answer = await send(endpoint, target, body, { prefer: 'handling=strict' });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('x-switchyard-ignored'), null);
    });

  it('remembers a bounded number of members, however many an object has', () => {
    const leftOut = new LeftOut();
    leftOut.read(Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`member_${at}`, 1])), '', []);
    assert.equal(leftOut.pointers.length, 10_000);
  });

  it('names at most 20 members, however many it leaves out', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`member_${at}`, at + 1]));
    const many = Array.from({ length: 5_000 }, () => ({ role: 'user', content: 'hi', name: 'Ann' }));
    for (const body of [{ messages: many }, { messages: [{ ...hi[0], ...unknown }] }]) {
      const answer = await send('chat', 'claude', body);
      assert.equal(answer.status, 200, answer.text);
      assert.ok((answer.headers.get('x-switchyard-ignored') ?? '').length <= 1_024);
    }
  });

  it('passes a tool without a type byte for byte where the provider speaks the protocol', async () => {
    const body = responses({ tools: [{ name: 't', input_schema: parameters }] });
    openai.answers(json({ id: 'resp_1', object: 'response', status: 'completed', output: [] }));
    const answer = await send('responses', 'native', body);
    assert.equal(answer.headers.get('x-switchyard-ignored'), null);
    assert.deepEqual(JSON.parse(seenBy('native')[0]?.body.toString() ?? '{}'), { model: 'gpt-x', ...body });
  });
});
