import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { Caller } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { caller as someCaller } from '#test/http/support/fake-service.ts';

const scopes: Caller['scopes'] = new Set(['gateway:read', 'gateway:write', 'files:read']);
const callers: Readonly<Record<string, Caller>> = {
  one: { ...someCaller, scopes },
  two: { ...someCaller, scopes, projectId: 'cproject2', keyId: 'ckey2' },
  blind: { ...someCaller, scopes: new Set(['gateway:write']), keyId: 'ckey3' },
};

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x', stop_sequence: null };
const said = {
  ...message,
  content: [{ type: 'text', text: 'read' }],
  ...{ stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } },
};

const data = (type: string, text: string) => `data:${type};base64,${btoa(text)}`;
const filePart = (file_id: string) => ({ type: 'file' as const, file: { file_id } });

describe('files of a project in a chat', () => {
  let openai: FakeProvider;
  let anthropic: FakeProvider;
  let service: GatewayService;
  let bodies: ByteBudget;
  /** The files that were opened, by their ids. */
  let opened: string[];

  before(async () => {
    [openai, anthropic] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([openai.stop(), anthropic.stop()]));
  beforeEach(async () => {
    openai.answers(json(completion('read')));
    anthropic.answers(json(said));
    opened = [];
    const admission = new Admission();
    bodies = admission.budgets.body;
    const stored = new Map([
      ['file-plain0000', { filename: 'a “b”.txt', contentType: 'text/plain', text: 'Hello' }],
      ['file-paper0000', { filename: 'a.pdf', contentType: 'application/pdf', text: 'pages' }],
      ['file-photo0000', { filename: 'a.png', contentType: 'image/png', text: 'png' }],
    ]);
    service = await startGateway(
      {
        providers: {
          openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl },
          anthropic: { kind: 'anthropic', baseUrl: anthropic.baseUrl },
        },
        models: {
          native: { targets: [{ provider: 'openai', model: 'gpt-x' }] },
          foreign: { targets: [{ provider: 'anthropic', model: 'claude-x' }] },
        },
      },
      {
        admission,
        authenticate: async (key) => callers[key] ?? null,
        findFile: async (id, projectId) => {
          if (id === 'file-outage0000') throw new UnavailableError('no store');
          const file = projectId === someCaller.projectId ? stored.get(id) : undefined;
          if (file === undefined) return null;
          const open = async () => {
            opened.push(id);
            return Readable.from([Buffer.from(file.text.slice(0, 2)), Buffer.from(file.text.slice(2))]);
          };
          return { ...file, bytes: file.text.length, open };
        },
      },
    );
  });
  afterEach(async () => {
    await service.stop();
    for (const provider of [openai, anthropic]) provider.seen.length = 0;
  });

  const ask = (model: string, content: ReadonlyArray<object>, key = 'one') => {
    const body = { model, messages: [{ role: 'user', content }] };
    return post(service, '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  };
  const refusalOf = async (content: ReadonlyArray<object>, key = 'one') => {
    const { status, json } = await ask('native', content, key);
    const { error } = json() as { error: { code: string; param: string | null } };
    return [status, error.code, error.param];
  };
  const sentTo = ({ seen }: FakeProvider) => JSON.parse(seen.at(-1)?.body.toString() ?? '').messages[0].content;

  it('are sent inside the call, in place of their ids', async () => {
    const content = [
      filePart('file-plain0000'),
      { type: 'text' as const, text: 'Read this' },
      filePart('file-photo0000'),
    ];
    assert.match((await ask('native', content)).text, /"content":"read"/);
    assert.deepEqual(sentTo(openai), [
      { type: 'file', file: { filename: 'a “b”.txt', file_data: data('text/plain', 'Hello') } },
      content[1],
      { type: 'file', file: { filename: 'a.png', file_data: data('image/png', 'png') } },
    ]);
  });

  it('are sent to a target of another protocol as documents and pictures', async () => {
    await ask('foreign', [filePart('file-paper0000'), filePart('file-photo0000')]);
    const source = (media_type: string, text: string) => ({ type: 'base64', media_type, data: btoa(text) });
    assert.deepEqual(sentTo(anthropic), [
      { type: 'document', title: 'a.pdf', source: source('application/pdf', 'pages') },
      { type: 'image', source: source('image/png', 'png') },
    ]);
  });

  it('are opened once, however often a request names them, and counted until the call ends', async () => {
    await ask(
      'native',
      Array.from({ length: 1_000 }, (_, index) => filePart(index % 2 ? 'file-plain0000' : 'file-paper0000')),
    );
    assert.deepEqual(opened.toSorted(), ['file-paper0000', 'file-plain0000']);
    assert.equal(sentTo(openai).length, 1_000);
    assert.equal(bodies.bytes, 0);
  });

  it('are refused beyond a thousand, before one is looked up', async () => {
    const refusal = await refusalOf(Array.from({ length: 1_001 }, () => filePart('file-outage0000')));
    assert.deepEqual(refusal, [422, 'too_many_files', 'messages[0].content[1000].file.file_id']);
  });

  it('are not found for another project, and need files:read', async () => {
    const param = 'messages[0].content[0].file.file_id';
    for (const [id, key] of [
      ['file-plain0000', 'two'],
      ['file-other0000', 'one'],
      ['x'.repeat(2_000), 'one'],
    ] as const)
      assert.deepEqual(await refusalOf([filePart(id)], key), [404, 'file_not_found', param]);
    assert.deepEqual(await refusalOf([filePart('file-plain0000')], 'blind'), [403, 'scope_required', null]);
    assert.equal(openai.seen.length, 0);
  });

  it('are a refusal that says so while their store cannot be reached', async () => {
    assert.deepEqual(await refusalOf([filePart('file-outage0000')]), [503, 'unavailable', null]);
  });

  it('are refused by an id of the account at the provider', async () => {
    const part = {
      type: 'input_audio',
      input_audio: { file_id: 'file-1' },
    };
    const param = 'messages[0].content[0].input_audio.file_id';
    assert.deepEqual(await refusalOf([part]), [404, 'provider_resource_not_found', param]);
    assert.equal(openai.seen.length, 0);
  });
});
