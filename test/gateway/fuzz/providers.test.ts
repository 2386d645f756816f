import assert from 'node:assert/strict';
import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { Admission } from '#exchange/admission.ts';
import { SseSplitter } from '#gateway/framing/sse-splitter.ts';
import { type Behaviour, FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { type Mutations, mutateBytes, mutateEvents, mutateValue, mutations, writeEvents } from './mutations.ts';
import { type AnsweredProtocol, providerAnswers } from './provider-answers.ts';

const user = { role: 'user', content: 'hello' };
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];

/** A client's call: its path, its body, and the protocol in which the provider answers. */
interface FuzzedCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answered: AnsweredProtocol;
  readonly canStream: boolean;
}

function chatAt(model: string, answered: AnsweredProtocol): FuzzedCall {
  return { path: '/v1/chat/completions', body: { model, messages: [user], tools }, answered, canStream: true };
}

function messageAt(model: string, answered: AnsweredProtocol): FuzzedCall {
  return { path: '/v1/messages', body: { model, messages: [user], max_tokens: 50 }, answered, canStream: true };
}

function responseAt(model: string, answered: AnsweredProtocol, more: object = {}): FuzzedCall {
  return { path: '/v1/responses', body: { model, input: 'hello', ...more }, answered, canStream: true };
}

const freeText = { tools: [{ type: 'custom', name: 'weather' }] };

/** All protocols of clients at all kinds of providers. */
const calls: ReadonlyArray<FuzzedCall> = [
  chatAt('chat', 'openai-chat'),
  chatAt('claude', 'anthropic-messages'),
  chatAt('continued', 'openai-chat'),
  chatAt('held', 'anthropic-messages'),
  messageAt('chat', 'openai-chat'),
  messageAt('claude', 'anthropic-messages'),
  responseAt('chat', 'openai-chat'),
  responseAt('chat', 'openai-chat', freeText),
  responseAt('claude', 'anthropic-messages'),
  responseAt('native', 'openai-responses'),
  responseAt('native', 'openai-responses', { store: false }),
  responseAt('native', 'openai-responses', { background: true }),
  chatAt('translated', 'openai-responses'),
  messageAt('translated', 'openai-responses'),
  { path: '/v1/embeddings', body: { model: 'chat', input: 'x' }, answered: 'openai-embeddings', canStream: false },
  { path: '/v1/audio/transcriptions', body: { model: 'chat' }, answered: 'openai-transcription', canStream: true },
];

/** How a provider sends an answer. */
interface Sending {
  readonly lineEnd: '\n' | '\r\n' | '\r';
  /** Where its bytes are cut, from 0 to 1. */
  readonly cuts: ReadonlyArray<number>;
  readonly end: 'end' | 'cut';
  readonly status: number;
  /** Null for that of the answer. */
  readonly contentType: string | null;
  readonly encoding: SentEncoding;
}

/** What an answer says of its encoding, and how it is compressed. */
interface SentEncoding {
  readonly name: string | null;
  readonly compress: (bytes: Buffer) => Buffer;
}

const asItIs = (bytes: Buffer) => bytes;
const plain: SentEncoding = { name: null, compress: asItIs };
const encodings: ReadonlyArray<SentEncoding> = [
  { name: 'gzip', compress: gzipSync },
  { name: 'deflate', compress: deflateRawSync },
  { name: 'br', compress: brotliCompressSync },
  { name: 'zstd', compress: zstdCompressSync },
  ...['gzip', 'br', 'zstd', 'identity', 'unknown'].map((name) => ({ name, compress: asItIs })),
];

const usually = <Value>(usual: Value, ...odd: ReadonlyArray<Value>) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });

const sending: fc.Arbitrary<Sending> = fc.record({
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
  end: usually<Sending['end']>('end', 'cut'),
  status: usually(200, 201, 204, 206, 302, 400, 401, 404, 429, 500, 529),
  contentType: usually<string | null>(null, 'application/json', 'text/event-stream', 'text/html', 'text/plain', ''),
  encoding: usually(plain, ...encodings),
});

const round = fc.record({ call: fc.constantFrom(...calls), isStreamed: fc.boolean(), mutations, sending });

const isSse = /^text\/event-stream/;

function bytesOf({ answered }: FuzzedCall, isStreamed: boolean, changes: Mutations, lineEnd: string): Buffer {
  const { whole, events } = providerAnswers[answered];
  const written = isStreamed
    ? writeEvents(mutateEvents(events, changes), lineEnd)
    : Buffer.from(JSON.stringify(mutateValue(whole, changes.values)));
  return mutateBytes(written, changes.bytes);
}

/** Sends bytes in pieces. */
function sends(written: Buffer, usualType: string, { cuts, end, status, contentType, encoding }: Sending): Behaviour {
  return async (res) => {
    const type = contentType ?? usualType;
    const named = encoding.name === null ? {} : { 'content-encoding': encoding.name };
    res.writeHead(status, { 'content-type': type, ...named });
    const bytes = encoding.compress(written);
    const places = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length].sort((a, b) => a - b);
    for (const [index, place] of places.slice(1).entries()) {
      if (res.destroyed) return;
      const piece = bytes.subarray(places[index], place);
      if (piece.length > 0) await new Promise((resolve) => res.write(piece, resolve));
    }
    if (end === 'end') res.end();
    else res.destroy();
  };
}

function requestOf({ path, body }: FuzzedCall, isStreamed: boolean): RequestInit {
  const authorization = `Bearer ${goodKey}`;
  if (path !== '/v1/audio/transcriptions') {
    const headers = { authorization, 'content-type': 'application/json' };
    return { method: 'POST', headers, body: JSON.stringify({ ...body, stream: isStreamed }) };
  }
  const form = new FormData();
  form.set('model', String(body.model));
  form.set('stream', String(isStreamed));
  form.set('file', new Blob(['RIFF']), 'a.wav');
  return { method: 'POST', headers: { authorization }, body: form };
}

/** Checks that a client can read an answer: JSON, or events whose last one says how the stream ended. */
function assertReadable(path: string, status: number, contentType: string, text: string): void {
  const isPassedOn = path === '/v1/audio/transcriptions' || path === '/v1/embeddings';
  if (isSse.test(contentType)) {
    const splitter = new SseSplitter();
    const events = [...splitter.push(Buffer.from(text)).events, ...splitter.finish().events];
    for (const { data } of events) if (data !== null && data.trim() !== '[DONE]' && data !== '') JSON.parse(data);
    assert.ok(
      /\[DONE\]|message_stop|"error"|response\.|\.done"/.test(text),
      `a stream without an end: ${text.slice(-300)}`,
    );
  } else if (status >= 400 || !isPassedOn) {
    const value = JSON.parse(text);
    assert.ok(typeof value === 'object' && value !== null, text);
    const members = ['error', 'choices', 'content', 'output', 'data', 'text'];
    assert.ok(
      members.some((name) => name in value),
      text.slice(0, 300),
    );
  }
}

describe('Any answer of a provider', () => {
  /** Longer than any call of these tests, by far. */
  const maxCallMs = 10_000;
  let provider: FakeProvider;
  let service: GatewayService;
  const admission = new Admission();
  const { answer: answers, body: bodies } = admission.budgets;

  before(async () => {
    provider = await FakeProvider.start();
    const { baseUrl } = provider;
    const target = (name: string, more: object = {}) => ({
      targets: [{ provider: name, model: 'x', maxOutputTokens: 100 }],
      retries: 0,
      ...more,
    });
    service = await startGateway(
      {
        providers: {
          chat: { kind: 'openai-compatible', baseUrl, responses: false },
          native: { kind: 'openai-compatible', baseUrl, responses: true, hostedTools: true },
          claude: { kind: 'anthropic', baseUrl },
        },
        models: {
          chat: target('chat'),
          native: target('native'),
          translated: { targets: [{ provider: 'native', model: 'x', protocol: 'openai-responses' }], retries: 0 },
          claude: target('claude'),
          continued: target('chat', {
            onStreamFailure: 'continue',
            fallbacks: [{ provider: 'chat', model: 'y', prefill: true }],
          }),
          held: target('claude', { onStreamFailure: 'whole' }),
        },
      },
      { admission },
    );
  });

  after(async () => {
    await service.stop();
    await provider.stop();
  });

  itInRounds('ends its own call, in a form that the client can read', { few: 250, many: 8_000 }, async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(round, async ({ call, isStreamed: asked, mutations: changes, sending: how }) => {
        const isStreamed = asked && call.canStream;
        const bytes = bytesOf(call, isStreamed, changes, how.lineEnd);
        provider.answers(sends(bytes, isStreamed ? 'text/event-stream' : 'application/json', how));
        service.letCircuitsWait(600_000);
        const logged = service.logged().length;
        const signal = AbortSignal.timeout(maxCallMs);
        const answer = await fetch(service.url + call.path, { ...requestOf(call, isStreamed), signal });
        const text = await answer.text().catch((error: unknown) => {
          // An answer that passes as it arrives ends with its connection.
          assert.equal(signal.aborted, false, String(error));
          return null;
        });
        if (text !== null) assertReadable(call.path, answer.status, answer.headers.get('content-type') ?? '', text);
        assert.doesNotMatch(service.logged().slice(logged), /"thrown"/);
        await eventually(() => answers.bytes === 0 && bodies.bytes === 0);
      }),
      { numRuns, includeErrorInReport: true },
    );
  });
});
