import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { readMessagesRequest } from '#gateway/protocols/anthropic-messages/messages-request.ts';
import { readChatRequest } from '#gateway/protocols/openai-chat/chat-request.ts';
import { readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';

const maxValues = 1_000_000;

/** How each protocol reads a body that has nothing but these members and what it requires. */
const readers = {
  'openai-chat': (members: object) => readChatRequest(bodyOf({ messages: [], ...members }), maxValues),
  'openai-responses': (members: object) => readResponsesRequest(bodyOf({ input: 'x', ...members }), maxValues),
  'anthropic-messages': (members: object) =>
    readMessagesRequest(bodyOf({ messages: [], max_tokens: 1, ...members }), maxValues, true),
};
type Protocol = keyof typeof readers;

function bodyOf(members: object): Buffer {
  return Buffer.from(JSON.stringify({ model: 'm', ...members }));
}

async function refusalOf(protocol: Protocol, members: object): Promise<Failure | null> {
  const read: E.Either<Failure, unknown> = await readers[protocol](members);
  return E.isLeft(read) ? read.left : null;
}

/** Puts a value at a place, which a pointer names: numbers are items of lists, after empty ones. */
function at(pointer: string, value: unknown): object {
  const keys = pointer.slice(1).split('/');
  return keys.reduceRight<unknown>((inside, key) => {
    const index = Number(key);
    return Number.isInteger(index) ? [...Array.from({ length: index }, () => ({})), inside] : { [key]: inside };
  }, value) as object;
}

/** Where an id lives at the provider, and so is refused. */
const refused: Readonly<Record<Protocol, ReadonlyArray<string>>> = {
  'openai-chat': [
    ...['/file_id', '/file_ids/0', '/messages/0/file_id', '/messages/0/content/0/file_id'],
    ...['/messages/0/content/0/input_file/file_id', '/messages/0/content/0/file/more/file_id'],
    ...['/messages/0/content/0/image_url/file_id', '/messages/0/tool_calls/0/file_id', '/prediction/content/0/file_id'],
    ...['/messages/0/audio/id', '/audio/voice/id', '/extra_body/google/cached_content', '/tools/0/function/file_id'],
    '/tools/0/file_search/vector/file_ids/1',
  ],
  'openai-responses': [
    ...['/conversation', '/conversation/id', '/prompt/id', '/prompt/variables/a/file_id', '/file_id'],
    ...['/tools/0/vector_store_ids/0', '/tools/0/vector_store_ids', '/tools/0/container/file_ids/0'],
    ...[
      '/tools/0/environment/file_ids/0',
      '/tools/0/environment/skills/0/skill_id',
      '/tools/0/tools/0/vector_store_ids/1',
    ],
    ...['/tools/0/input_image_mask/file_id', '/input/0/content/0/image_url/file_id', '/input/0/file_id'],
    ...['/input/0/content/0/annotations/0/file_id', '/input/0/results/0/file_id', '/input/0/outputs/0/files/0/file_id'],
    ...['/input/0/content/0/source/file_id', '/input/0/output/0/content/0/file_id', '/input/0/vector_store_id'],
    '/instructions/0/content/0/file_id',
  ],
  'anthropic-messages': [
    ...['/container', '/container/id', '/container/skills/0/skill_id', '/file_id', '/system/0/source/file_id'],
    ...['/messages/0/content/0/file_id', '/messages/0/content/0/source/file_id'],
    ...['/messages/0/content/0/content/0/source/file_id', '/messages/0/content/0/source/content/0/source/file_id'],
    ...[
      '/messages/0/content/0/content/0/source/content/0/source/file_id',
      '/messages/0/content/0/content/content/0/file_id',
    ],
    ...[
      '/system/0/source/content/0/source/file_id',
      '/tools/0/container',
      '/tools/0/file_ids/0',
      '/mcp_servers/0/file_id',
    ],
    '/messages/0/content/0/content/0/content/0/content/0/source/file_id',
  ],
};

/** Where the same names are the client's own. */
const free: Readonly<Record<Protocol, ReadonlyArray<string>>> = {
  'openai-chat': [
    ...['/tools/0/function/parameters/properties/file_id', '/functions/0/parameters/file_ids/0'],
    ...['/tools/0/custom/format/grammar/file_id', '/response_format/json_schema/schema/file_id', '/metadata/file_id'],
  ],
  'openai-responses': [
    ...[
      '/tools/0/parameters/properties/container',
      '/tools/0/tools/0/parameters/vector_store_ids/0',
      '/metadata/file_id',
    ],
    ...['/tools/0/format/definition/file_id', '/text/format/schema/properties/file_id', '/input/0/arguments/file_id'],
    ...['/input/0/tools/0/input_schema/file_id', '/input/0/tools/0/parameters/file_id', '/input/0/action/env/file_id'],
  ],
  'anthropic-messages': [
    ...['/tools/0/input_schema/properties/file_id', '/messages/0/content/0/input/source/file_id', '/metadata/file_id'],
    ...['/output_config/format/schema/container', '/output_format/schema/file_id', '/tools/0/input_examples/0/file_id'],
  ],
};

/** What else a message or an item needs. */
function withRoles(members: object): object {
  const { messages, input } = members as { messages?: ReadonlyArray<object>; input?: ReadonlyArray<object> };
  return {
    ...members,
    ...(messages === undefined ? {} : { messages: messages.map((each) => ({ role: 'user', ...each })) }),
    ...(input === undefined ? {} : { input: input.map((each) => ({ role: 'user', ...each })) }),
  };
}

describe('ids of the account at a provider', () => {
  for (const protocol of Object.keys(readers) as Protocol[]) {
    for (const pointer of refused[protocol])
      it(`are refused on ${protocol} at ${pointer}`, async () => {
        const refusal = await refusalOf(protocol, withRoles(at(pointer, 'id_1')));
        assert.equal(refusal?.code, 'provider-resource-not-found');
        assert.deepEqual(refusal?.errors, [{ pointer, message: 'must be left out' }]);
      });

    it(`are texts on ${protocol}: another value names nothing`, async () => {
      for (const pointer of refused[protocol])
        for (const value of [null, 5, false, {}, [5]])
          assert.equal(await refusalOf(protocol, withRoles(at(pointer, value))), null, `${pointer}: ${value}`);
    });

    for (const pointer of free[protocol])
      it(`are not looked for on ${protocol} in JSON of the client’s own, as at ${pointer}`, async () => {
        assert.equal(await refusalOf(protocol, withRoles(at(pointer, 'id_1'))), null);
      });
  }

  it('are not hidden by a name with escapes', async () => {
    const text = '{"model":"m","max_tokens":1,"messages":[],"system":[{"source":{"file_\\u0069d":"file_1"}}]}';
    const read = await readMessagesRequest(Buffer.from(text), maxValues, true);
    assert.equal(E.isLeft(read) && read.left.code, 'provider-resource-not-found');
  });

  describe('in the result of a tool of Anthropic', () => {
    const result = (type: string, role: string, more: object = {}) => ({
      messages: [
        { role: 'user', content: 'plot it' },
        {
          role,
          content: [
            {
              type,
              tool_use_id: 'srvtoolu_1',
              content: {
                type: 'bash_code_execution_result',
                content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
              },
              ...more,
            },
          ],
        },
        { role: 'user', content: 'and now?' },
      ],
    });
    const place = '/messages/1/content/0/content/content/0/file_id';
    const refusedAt = async (members: object) =>
      (await refusalOf('anthropic-messages', members))?.errors?.map(({ pointer }) => pointer);

    it('are allowed in a turn of the assistant', async () => {
      for (const type of ['bash_code_execution_tool_result', 'code_execution_tool_result'])
        assert.equal(await refusedAt(result(type, 'assistant')), undefined, type);
    });

    for (const [where, members, pointer] of [
      ['in a turn of the user', result('bash_code_execution_tool_result', 'user'), place],
      ['in a result of the client', result('tool_result', 'assistant'), place],
      ['in another block', result('document', 'assistant'), place],
      [
        'elsewhere in such a block',
        result('bash_code_execution_tool_result', 'assistant', { source: { file_id: 'file_2' } }),
        '/messages/1/content/0/source/file_id',
      ],
    ] as const)
      it(`are refused ${where}`, async () => {
        assert.deepEqual(await refusedAt(members), [pointer]);
      });

    it('are refused if its role or its type comes twice', async () => {
      const text = JSON.stringify(result('bash_code_execution_tool_result', 'assistant'));
      for (const [once, twice] of [
        ['"role":"assistant"', '"role":"assistant","role":"user"'],
        ['"type":"bash_code_execution_tool_result"', '"type":"document","type":"bash_code_execution_tool_result"'],
      ] as const) {
        const body = `{"model":"m","max_tokens":1,${text.slice(1).replace(once, twice)}`;
        const read = await readMessagesRequest(Buffer.from(body), maxValues, true);
        assert.equal(E.isLeft(read) && read.left.code, 'provider-resource-not-found', twice);
      }
    });
  });

  it('are those of containers too, in which a cited file is', async () => {
    const cited = { type: 'container_file_citation', container_id: 'cntr_1', file_id: 'cfile_1' };
    const item = (annotation: object) => ({
      input: [{ role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: [annotation] }] }],
    });
    const read = await readers['openai-responses'](item(cited));
    assert.ok(E.isRight(read));
    assert.deepEqual(
      read.right.containers.map(({ pointer }) => pointer),
      ['/input/0/content/0/annotations/0/container_id'],
    );
    const alone = await refusalOf('openai-responses', item({ ...cited, container_id: null }));
    assert.equal(alone?.code, 'provider-resource-not-found');
  });

  it('are not the files of the project, of which a request names a thousand at most', async () => {
    const chat = (count: number) => ({
      messages: [
        { role: 'user', content: Array.from({ length: count }, () => ({ type: 'file', file: { file_id: 'file-1' } })) },
      ],
    });
    const input = (count: number) => ({
      input: [
        {
          role: 'user',
          content: Array.from({ length: count }, () => ({ type: 'input_file', file_id: 'file-1' })),
        },
      ],
    });
    assert.equal(await refusalOf('openai-chat', chat(1_000)), null);
    assert.equal(await refusalOf('openai-responses', input(1_000)), null);
    const tooMany = [await refusalOf('openai-chat', chat(1_001)), await refusalOf('openai-responses', input(1_001))];
    assert.deepEqual(
      tooMany.map((refusal) => [refusal?.code, refusal?.errors?.[0]?.pointer]),
      [
        ['too-many-files', '/messages/0/content/1000/file/file_id'],
        ['too-many-files', '/input/0/content/1000/file_id'],
      ],
    );
  });
});
