import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type AnyOperation, get } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { Caller } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { wholeNumber } from '#shared/codecs/number.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { caller, type FakeService, fakeOperations, startFakeService, widgetId } from './support/fake-service.ts';
import { UnreadClient } from './support/unread-client.ts';

const mebibyte = 1024 * 1024;
/** More than the system takes for a client that reads nothing. */
const largeMiB = 12;
const large = largeMiB * mebibyte;
const limits = { maxBytesPerProject: 10 * mebibyte, maxBytes: 30 * mebibyte };
/** A project's key is its id. */
const authenticate = async (key: string): Promise<Caller> => ({ ...caller, keyId: `k${key}`, projectId: key });

const common = {
  plane: 'control',
  group: 'Texts',
  scope: 'flows:read',
  failures: [],
  paged: false,
  hasRevision: false,
  output: null,
  example: {},
  input: t.type({ textId: cuid, mebibytes: wholeNumber(0, 64) }),
  loadSubject: async () => E.right(null),
} as const;

/** Operations that answer with the `mebibytes` of their input, of each kind. @param beforeAnswer called before an answer is made */
function textOperations(beforeAnswer: () => Promise<unknown>): ReadonlyArray<AnyOperation> {
  const bytesOf = (input: unknown) => (input as { mebibytes: number }).mebibytes * mebibyte;
  return [
    {
      ...common,
      name: 'get_text',
      summary: 'Get a text',
      kind: 'query',
      http: get('/v1/texts/:textId'),
      isConditional: true,
      execute: async ({ input }) => {
        await beforeAnswer();
        return E.right({ status: 200, body: { text: 'x'.repeat(bytesOf(input)) }, revision: 3 });
      },
    },
    {
      ...common,
      name: 'stream_text',
      summary: 'Stream a text',
      kind: 'query',
      http: get('/v1/texts/:textId/stream'),
      execute: async ({ input }) => {
        const chunks = async function* () {
          for (let left = bytesOf(input); left > 0; left -= 64 * 1024) yield 'x'.repeat(64 * 1024);
          await beforeAnswer();
          yield 'end';
        };
        return E.right({ status: 200, body: undefined, stream: { contentType: 'text/csv', chunks: chunks() } });
      },
    },
    {
      ...common,
      name: 'download_text',
      summary: 'Download a text',
      kind: 'download',
      produces: ['text/plain'],
      http: get('/v1/texts/:textId/content'),
      execute: async ({ input }) => {
        const bytes = bytesOf(input);
        const pieces = function* () {
          for (let left = bytes; left > 0; left -= 64 * 1024) yield Buffer.alloc(64 * 1024);
        };
        return E.right({
          ...{ kind: 'download', contentType: 'text/plain', filename: 'a', etag: 'e', bytes },
          open: async () => Readable.from(pieces()),
        });
      },
    },
  ];
}

const widget = `/v1/widgets/${widgetId}`;
const text = (mebibytes: number, kind = '') => `/v1/texts/ctext00001${kind}?mebibytes=${mebibytes}`;

describe('ByteBudget of answers', () => {
  let budget: ByteBudget;
  let service: FakeService;
  let clients: UnreadClient[];
  let made: number;
  let beforeAnswer: () => Promise<unknown>;

  /** @param maxUnreadMs how long an answer may stay unread; the default is longer than any test */
  async function start(maxUnreadMs = 60_000, byteLimits = limits): Promise<void> {
    await service?.stop();
    const admission = new Admission({ limits: { bytes: { answer: byteLimits } } });
    budget = admission.budgets.answer;
    made = 0;
    beforeAnswer = async () => undefined;
    const make = async () => {
      made += 1;
      await beforeAnswer();
    };
    const operations = [...fakeOperations(), ...textOperations(make)];
    service = await startFakeService({ operations, admission, authenticate, maxUnreadMs }, { stopTimeoutMs: 100 });
  }

  beforeEach(async () => {
    clients = [];
    await start();
  });
  afterEach(async () => {
    for (const client of clients) client.leave();
    await service.stop();
  });

  function clientOf(project: string): UnreadClient {
    const client = new UnreadClient(service.port, project);
    clients.push(client);
    return client;
  }

  /** Asks for an answer and reads nothing. Resolves when its bytes are counted. */
  async function leaveUnread(project: string, path = text(largeMiB)): Promise<UnreadClient> {
    const before = budget.bytesOf(project);
    const client = clientOf(project);
    client.ask(path);
    await eventually(() => budget.bytesOf(project) > before, 'the bytes');
    return client;
  }

  const statusOf = async (project: string, path: string) => {
    const answer = await fetch(service.url + path, { headers: { 'x-api-key': project } });
    const body = (await answer.json()) as { readonly code?: string };
    return [answer.status, body.code, answer.headers.get('retry-after')];
  };
  const nothingLeft = () =>
    eventually(() => budget.bytes === 0 && budget.projects === 0, `nothing left, but ${budget.bytes} bytes are`);

  it('refuses what begins with 429 while unread answers of its project take the limit, and serves other projects', async () => {
    const unread = await leaveUnread('one');
    assert.equal(budget.bytesOf('one') >= large, true);
    assert.deepEqual(await statusOf('one', text(0)), [429, 'too-many-answer-bytes', '1']);
    assert.equal(made, 1, 'a refused request does no work');
    const chat = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': 'one', 'content-type': 'application/json' },
      body: '{"model":"m","messages":[]}',
    });
    const { error } = (await chat.json()) as { error: { code: string; type: string } };
    assert.deepEqual([chat.status, error.code, error.type], [429, 'too_many_answer_bytes', 'rate_limit_error']);
    assert.deepEqual(await statusOf('two', text(0)), [200, undefined, null]);
    unread.read();
    await nothingLeft();
    assert.deepEqual(await statusOf('one', text(0)), [200, undefined, null]);
    await eventually(() => unread.bytes > large, 'the whole answer');
  });

  it('refuses what begins with 503 while unread answers take the limit of the node, but not paths without a key', async () => {
    const unread = await leaveUnread('one');
    const others = budget.hold('two');
    others.resize(limits.maxBytes - budget.bytes);
    assert.deepEqual(await statusOf('three', text(0)), [503, 'answers-full', '1']);
    assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
    unread.leave();
    await eventually(async () => (await statusOf('three', text(0)))[0] === 200, 'room');
    others.release();
    await nothingLeft();
  });

  it('sends no answer for which the node has no room', async () => {
    await start(60_000, { maxBytesPerProject: mebibyte, maxBytes: 2 * mebibyte });
    assert.deepEqual(await statusOf('one', text(3)), [503, 'answers-full', '1']);
    assert.deepEqual(await statusOf('one', text(1)), [200, undefined, null]);
    await nothingLeft();
  });

  it('makes few answers of a project at the same time, so that what begins together is bounded too', async () => {
    const begun = Promise.withResolvers<void>();
    beforeAnswer = () => begun.promise;
    const asked = Array.from({ length: 40 }, () => clientOf('one'));
    for (const client of asked) client.ask(text(largeMiB));
    await eventually(() => made === 16, 'the first answers');
    assert.deepEqual((await statusOf('two', widget))[0], 200);
    begun.resolve();
    await eventually(() => service.logged().split('"status":429').length === 25, 'the refusals of all others');
    assert.equal(made, 16);
    for (const client of asked) client.read();
    await eventually(() => asked.every(({ bytes }) => bytes > 0), 'all answers');
    await nothingLeft();
  });

  for (const [kind, path] of [
    ['a whole answer', text(largeMiB)],
    ['an answer in pieces', text(largeMiB, '/stream')],
    ['a download', text(largeMiB, '/content')],
  ] as const) {
    it(`releases the bytes of ${kind} when it was read and when its client leaves`, async () => {
      await start(3_000);
      const reading = await leaveUnread('one', path);
      const leaving = await leaveUnread('two', path);
      reading.read();
      leaving.leave();
      await nothingLeft();
      await eventually(() => reading.bytes > large, 'the whole answer');
    });

    it(`ends ${kind} of which its client takes nothing, even while the client still sends`, async () => {
      await start(1_000);
      const client = await leaveUnread('one', path);
      client.write('GET / HTTP/1.1\r\nX-Drip: ');
      const sending = setInterval(() => client.write('x'), 50);
      try {
        await eventually(() => budget.bytes === 0, 'the end');
      } finally {
        clearInterval(sending);
      }
      client.read();
      await client.closed;
      assert.ok(client.bytes < large, `${client.bytes} bytes`);
    });
  }

  it('counts of an answer in pieces only what waits beyond the socket', async () => {
    await start(3_000);
    await leaveUnread('one', text(64, '/stream'));
    await leaveUnread('two', text(64, '/content'));
    await sleep(300);
    assert.ok(budget.bytes <= 4 * 128 * 1024, `${budget.bytes} bytes`);
  });

  it('does not end an answer that is read slowly', async () => {
    await start(2_000, { maxBytesPerProject: 64 * mebibyte, maxBytes: 64 * mebibyte });
    const client = await leaveUnread('one', text(48));
    const started = performance.now();
    // A system takes more only when much of its buffer is free, so each step reads a few MiB.
    for (let wanted = 0; client.bytes < 48 * mebibyte; wanted += 6 * mebibyte) {
      client.read();
      await eventually(() => client.bytes >= Math.min(wanted, 48 * mebibyte), 'the next bytes');
      client.pause();
      await sleep(400);
    }
    assert.ok(performance.now() - started > 2_500);
    await nothingLeft();
  });

  it('does not count the time in which nothing waits for the client', async () => {
    await start(200);
    beforeAnswer = () => sleep(1_000);
    const stream = clientOf('one');
    stream.read();
    stream.ask(text(1, '/stream'));
    const pipelined = clientOf('two');
    pipelined.read();
    pipelined.ask(text(0), widget);
    await eventually(() => /0\r\n\r\n/.test(stream.head) || stream.bytes > mebibyte + 3, 'the whole stream');
    await eventually(() => pipelined.head.split('HTTP/1.1 200').length === 3, 'both answers');
    await nothingLeft();
  });

  it('counts nothing for answers without content, for errors, and for answers that the system has taken', async () => {
    const client = clientOf('one');
    client.read();
    client.ask(
      { path: text(largeMiB), method: 'HEAD' },
      { path: text(largeMiB, '/stream'), method: 'HEAD' },
      { path: text(largeMiB), fields: ['If-None-Match: "3"'] },
      { path: text(largeMiB, '/content'), fields: ['If-None-Match: "e"'] },
      '/v1/nothing',
      widget,
    );
    await eventually(() => client.head.split('HTTP/1.1 ').length === 7, 'six answers');
    assert.deepEqual(
      client.head.match(/HTTP\/1.1 \d+/g)?.map((line) => line.slice(9)),
      ['200', '200', '304', '304', '404', '200'],
    );
    await nothingLeft();
  });

  it('releases what waits behind an answer that is not read when the connection ends', async () => {
    await start(3_000);
    const client = clientOf('one');
    client.ask(text(largeMiB), text(2));
    await eventually(() => budget.bytesOf('one') >= large + 2 * mebibyte, 'both answers');
    client.leave();
    await nothingLeft();
  });
});
