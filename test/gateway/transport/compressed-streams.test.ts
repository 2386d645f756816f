import assert from 'node:assert/strict';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { Admission } from '#exchange/admission.ts';
import { bytes, chunk, done, FakeProvider, role, saying, stop, words } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, openChat, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const mebibyte = 1024 * 1024;
const path = '/v1/chat/completions';
const streamed = { model: 'chat', stream: true, messages: [{ role: 'user', content: 'hello' }] };
const events = saying('one', ' two').join('');
const type = 'text/event-stream';

const compressions = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  GZIP: gzipSync,
  deflate: deflateSync,
  'deflate without a header': deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;

describe('A compressed event stream', () => {
  let provider: FakeProvider;
  let service: GatewayService;
  const admission = new Admission();
  const answers = admission.budgets.answer;

  before(async () => {
    provider = await FakeProvider.start();
    service = await startGateway(
      {
        providers: { openai: { kind: 'openai-compatible', baseUrl: provider.baseUrl } },
        models: { chat: { targets: [{ provider: 'openai', model: 'x' }], retries: 0 } },
      },
      { admission },
    );
  });
  beforeEach(() => service.letCircuitsWait(600_000));
  afterEach(() => eventually(() => answers.bytes === 0, 'no held bytes'));
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  const encodingOf = (name: string) => name.split(' ')[0] ?? name;

  for (const [name, compress] of Object.entries(compressions))
    it(`reaches the client uncompressed: ${name}`, async () => {
      provider.answers(bytes(compress(events), { 'content-type': type, 'content-encoding': encodingOf(name) }));
      const answer = await post(service, path, streamed);
      assert.deepEqual([answer.status, answer.text], [200, events]);
      assert.equal(answer.headers.get('content-encoding'), null);
      assert.equal(answer.headers.get('content-type'), type);
    });

  it('is translated', async () => {
    provider.answers(bytes(gzipSync(events), { 'content-type': type, 'content-encoding': 'gzip' }));
    const answer = await post(service, '/v1/messages', { ...streamed, max_tokens: 10 });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /"text":"one"[\s\S]* two[\s\S]*message_stop/);
  });

  it('passes event by event', async () => {
    const go = Promise.withResolvers<void>();
    provider.answers(async (res) => {
      res.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
      const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
      gzip.pipe(res);
      gzip.write(role + words('first').join(''));
      await go.promise;
      gzip.end(stop + done);
    });
    const client = openChat(service, streamed);
    await eventually(() => client.received().includes('first'), 'the first word');
    go.resolve();
    await client.ended;
    assert.match(client.received(), /\[DONE\]/);
  });

  it('is read to its end where each byte comes alone', async () => {
    const compressed = gzipSync(events);
    provider.answers(async (res) => {
      res.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
      for (const byte of compressed) await new Promise((resolve) => res.write(Buffer.of(byte), resolve));
      res.end();
    });
    assert.equal((await post(service, path, streamed)).text, events);
  });

  const broken: Readonly<Record<string, readonly [Buffer, string, string]>> = {
    'is cut before its content': [gzipSync(events).subarray(0, 30), 'gzip', 'provider_unfinished'],
    'is not what its header says': [Buffer.from(events), 'gzip', 'provider_malformed'],
    'has an unknown encoding': [gzipSync(events), 'snappy', 'provider_malformed'],
    'has no byte': [Buffer.alloc(0), 'gzip', 'provider_unfinished'],
  };
  for (const [what, [sent, encoding, code]] of Object.entries(broken))
    it(`is a broken answer if it ${what}`, async () => {
      provider.answers(bytes(sent, { 'content-type': type, 'content-encoding': encoding }));
      const answer = await post(service, path, streamed);
      assert.equal(answer.status, 502);
      assert.match(answer.text, new RegExp(code));
    });

  it('ends with an error if it breaks after its content', async () => {
    const whole = gzipSync([role, ...words('said'), `: ${noisy(100_000).toString('base64')}\n\n`].join(''));
    for (const sent of [
      whole.subarray(0, whole.length - 20_000),
      Buffer.concat([whole.subarray(0, 40_000), noisy(9_000)]),
    ]) {
      provider.answers(bytes(sent, { 'content-type': type, 'content-encoding': 'gzip' }));
      const answer = await post(service, path, streamed);
      assert.equal(answer.status, 200);
      assert.match(answer.text, /said[\s\S]*"error"/);
      assert.doesNotMatch(answer.text, /\[DONE\]/);
    }
  });

  it('counts what arrived before its connection broke', async () => {
    provider.answers((res) => {
      res.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
      res.write(gzipSync(events), () => res.destroy());
    });
    assert.equal((await post(service, path, streamed)).text, events);
  });

  it('is refused early if a few bytes become very many before the content', async () => {
    const bomb = gzipSync(Buffer.from(`: ${'x'.repeat(16 * mebibyte)}\n\n`));
    provider.answers(bytes(bomb, { 'content-type': type, 'content-encoding': 'gzip' }));
    const answer = await post(service, path, streamed);
    assert.equal(answer.status, 502);
    assert.match(answer.text, /provider_too_large/);
  });

  it('is read no faster than its client reads', async () => {
    const content = chunk({ content: 'x'.repeat(1_000) });
    const compressed = gzipSync(Buffer.from(role + content.repeat(16 * 1_024) + stop + done));
    provider.answers(bytes(compressed, { 'content-type': type, 'content-encoding': 'gzip' }));
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(streamed),
    });
    let length = 0;
    let most = 0;
    for await (const piece of answer.body ?? []) {
      length += piece.length;
      most = Math.max(most, answers.bytes);
    }
    assert.ok(most < 8 * mebibyte, `${most} bytes were held`);
    assert.equal(length, role.length + content.length * 16 * 1_024 + stop.length + done.length);
  });

  it('is closed if its client leaves', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    provider.answers((res) => {
      res.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' });
      gzip.pipe(res);
      gzip.write(role + words('first').join(''));
    });
    const client = openChat(service, streamed);
    await eventually(() => client.received().includes('first'), 'the first word');
    client.leave();
    await eventually(() => provider.seen.at(-1)?.closedAt !== null, 'that the provider’s call ends');
    gzip.destroy();
  });

  it('may be JSON instead, compressed too', async () => {
    const refused = JSON.stringify({ error: { message: 'No key', code: '429' } });
    provider.answers(bytes(gzipSync(refused), { 'content-type': 'application/json', 'content-encoding': 'gzip' }));
    const answer = await post(service, path, streamed);
    assert.equal(answer.status, 429);
    assert.match(answer.text, /No key/);
  });
});

/** Bytes that no compression makes shorter. */
function noisy(length: number): Buffer {
  const noise = Buffer.alloc(length);
  let state = 1;
  for (let at = 0; at < length; at += 1) {
    state = (state * 48_271) % 2_147_483_647;
    noise[at] = state & 0xff;
  }
  return noise;
}
