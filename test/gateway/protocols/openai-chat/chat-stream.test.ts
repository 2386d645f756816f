import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import {
  type Behaviour,
  bytes,
  chunk,
  done,
  error,
  type FakeProvider,
  json,
  role,
  saying,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { short } from '#test/gateway/support/gateway-of-two.ts';
import { type GatewayService, openChat, post } from '#test/gateway/support/gateway-service.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';

const chat = { model: 'large', messages, stream: true };
const _runsOut = /silence|never content|stall|without an end/;

const inside = (code: string): string =>
  `data: {"error":{"message":"busy","type":"server_error","code":"${code}"}}\n\n`;
const _overlong = `data: ${'x'.repeat(1_100_000)}`;
/** Events that arrive in one piece with the end of the stream. */
const _together = (...events: ReadonlyArray<string>): Behaviour =>
  bytes(events.join(''), { 'content-type': 'text/event-stream' });

/** Splits bytes into pieces of these sizes, repeated. */
function piecesOf(text: string, sizes: ReadonlyArray<number>): ReadonlyArray<Buffer> {
  const all = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let from = 0, turn = 0; from < all.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? all.length;
    pieces.push(all.subarray(from, from + size));
    from += size;
  }
  return pieces;
}

interface Streamed {
  readonly text: string;
  readonly finish: string | null;
  readonly error: { readonly message: string; readonly type: string; readonly code: string | null } | null;
  readonly isDone: boolean;
}

/** The stream as a client parses it. */
function readStream(body: string): Streamed {
  let text = '';
  let finish: string | null = null;
  let failed: Streamed['error'] = null;
  let isDone = false;
  for (const event of body.split('\n\n')) {
    if (!event.startsWith('data: ')) continue;
    const data = event.slice('data: '.length);
    if (data === '[DONE]') {
      isDone = true;
      continue;
    }
    const value = JSON.parse(data);
    failed = value.error ?? failed;
    for (const { delta, finish_reason } of value.choices ?? []) {
      text += delta.content ?? '';
      finish = finish_reason ?? finish;
    }
  }
  return { text, finish, error: failed, isDone };
}

const whole = (text: string): Streamed => ({ text, finish: 'stop', error: null, isDone: true });

describe('streamed chat', () => {
  const given = chatService({
    primary: stream(saying('from', ' the', ' primary')),
    backup: stream(saying('from', ' the', ' backup')),
  });
  const { configuration } = given;
  let primary: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;

  beforeEach(() => {
    ({ primary, backup, service } = given);
  });

  const tries = () => [primary.seen.length, backup.seen.length];

  /** Returns the primary's stream as a client reads it. The second part follows when the client has the first. */
  const readInTwo = async (
    first: ReadonlyArray<string>,
    then: (res: ServerResponse) => void,
    members: object = {},
  ): Promise<Streamed> => {
    const arrived = Promise.withResolvers<void>();
    primary.answers(async (res, seen) => {
      await stream(first, { after: 'stall' })(res, seen);
      await arrived.promise;
      then(res);
    });
    const client = openChat(service, { ...chat, ...members });
    await eventually(() => client.received().endsWith(first.at(-1) ?? ''), 'the first pieces');
    arrived.resolve();
    await client.ended;
    return readStream(client.received());
  };

  const rounds = { few: 30, many: 500 };
  itInRounds(
    'delivers a whole stream, an error, or another target’s stream, however bytes come and end',
    rounds,
    async (numRuns) => {
      // Each run has its own target, because the circuit of a failing target would open.
      const models = Array.from({ length: numRuns }, (_, run) => [
        `m${run}`,
        {
          targets: [{ provider: 'primary', model: `x${run}` }],
          fallbacks: [{ provider: 'backup', model: 'y' }],
          retries: 0,
        },
      ]);
      const base = configuration();
      service.configure({ ...base, models: { ...base.models, ...Object.fromEntries(models) } });
      const text = fc.constantFrom('Gr\u00fc\u00df', ' \u{1F600}', '\n\ndata: x', '"\\');
      const cases = fc.record({
        texts: fc.array(text, { minLength: 1, maxLength: 5 }),
        end: fc.constantFrom('marked', 'unmarked', 'cut', 'ended', 'malformed', 'error', 'marked early'),
        /** The events of a failing stream before its failure. */
        before: fc.nat({ max: 6 }),
        lineEnd: fc.constantFrom('\n', '\r\n'),
        sizes: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 }),
      });
      let run = 0;
      const property = fc.asyncProperty(cases, async ({ texts, end, before, lineEnd, sizes }) => {
        const said = [role, ...words(...texts)];
        const tails: Record<string, string> = {
          malformed: 'data: {"cho\n\n',
          error: inside('b'),
          'marked early': done,
        };
        const isWhole = end === 'marked' || end === 'unmarked';
        const events = isWhole
          ? [...said, stop, ...(end === 'marked' ? [done] : [])]
          : [...said.slice(0, before), tails[end] ?? ''];
        const body = events.join('').replaceAll('\n', lineEnd);
        primary.answers(stream(piecesOf(body, sizes), { after: end === 'cut' ? 'cut' : 'end' }));
        const answer = await post(service, path, { ...chat, model: `m${run % numRuns}` });
        run += 1;
        const seen = readStream(answer.text.replaceAll('\r\n', '\n'));
        if (isWhole) assert.equal(answer.text, end === 'marked' ? body : body + done);
        else if (answer.headers.get('x-switchyard-target') === 'backup/y')
          assert.deepEqual(seen, whole('from the backup'));
        else {
          assert.ok(seen.error !== null && !seen.isDone && seen.finish === null);
          assert.ok(seen.text !== '' && texts.join('').startsWith(seen.text));
        }
      });
      await fc.assert(property, { numRuns });
    },
  );

  describe('before the first content', () => {
    const _good = stream(saying('from', ' the', ' primary'));
    const cases: ReadonlyArray<[string, ReadonlyArray<Behaviour>, string, readonly [number, number]]> = [
      [
        'context length inside a 200',
        [stream(['data: {"error":{"message":"long","code":"context_length_exceeded"}}\n\n'])],
        'backup',
        [1, 1],
      ],
      ['an error in JSON of status 200', [json({ error: { message: 'No key', code: '401' } })], 'backup', [1, 1]],
      [
        'a stream that is compressed',
        [stream(saying('x'), { headers: { 'content-encoding': 'gzip' } })],
        'backup',
        [3, 1],
      ],
      ['429 with a long Retry-After', [error(429, 'x', { 'retry-after': '9' })], 'backup', [1, 1]],
    ];
    for (const [what, behaviours, from, expected] of cases)
      it(`serves a stream by another attempt before the first content: ${what}`, async () => {
        primary.answers(...behaviours);
        const answer = await post(service, path, chat);
        assert.deepEqual(readStream(answer.text), whole(`from the ${from}`));
        assert.deepEqual(tries(), expected);
        assert.equal(answer.headers.get('x-switchyard-attempts'), String(expected[0] + expected[1]));
        assert.equal(service.records[0]?.outcome, 'served');
      });
  });

  it('completes a stream when every choice is finished: adds a missing [DONE], and ignores a break after that', async () => {
    for (const after of ['end', 'cut', 'stall'] as const) {
      primary.answers(stream([role, ...words('all'), stop], { after }));
      assert.deepEqual(readStream((await post(service, path, chat)).text), whole('all'), after);
    }
    const second = `data: {"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":null}]}\n\n`;
    const { error: reported } = await readInTwo([role, second], (res) => res.end(stop + done), { n: 2 });
    assert.equal(reported?.code, 'provider_unfinished');
  });

  it('does not take an empty finish_reason for the end of a stream', async () => {
    const said = chunk({ content: 'a' }, '');
    assert.equal((await readInTwo([said], (res) => res.destroy())).error?.code, 'provider_reset');
    primary.answers(stream([said, stop, done]));
    assert.deepEqual(readStream((await post(service, path, chat)).text), whole('a'));
  });

  it('does not wait for comments once a stream is whole', async () => {
    service.configure(configuration({}, { idleMs: 400, totalMs: 4_000 }));
    primary.answers(async (res, seen) => {
      await stream([role, ...words('all'), stop], { after: 'stall' })(res, seen);
      await ping(res);
    });
    assert.deepEqual(readStream((await post(service, path, chat)).text), whole('all'));
    assert.ok((service.records[0]?.totalMs ?? 1e9) < 3_900, 'it is not its time in all that ended it');
  });

  it('completes a stream when the provider says so, with fewer choices than requested', async () => {
    primary.answers(stream(saying('one')));
    assert.deepEqual(readStream((await post(service, path, { ...chat, n: 2 })).text), whole('one'));
    const { error: reported } = await readInTwo([role, ...words('one'), stop], (res) => res.end(), { n: 2 });
    assert.equal(reported?.code, 'provider_unfinished');
  });

  it('drops a header of a provider that cannot be sent', async () => {
    primary.answers((res) => {
      res.socket?.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: \u{1F600}\r\nconnection: close\r\n\r\n',
      );
      res.socket?.end(saying('all').join(''));
    });
    assert.deepEqual(readStream((await post(service, path, chat)).text), whole('all'));
  });

  it('ends a stream with [DONE], even if the provider keeps its connection', async () => {
    primary.answers(stream(saying('all'), { after: 'stall' }));
    assert.deepEqual(readStream((await post(service, path, chat)).text), whole('all'));
    assert.equal(primary.seen[0]?.closedAt, null, 'it did not wait for the end of the connection');
    await eventually(() => primary.seen[0]?.closedAt !== null, 'the end of the connection');
  });

  it('does not limit the duration of a live stream: only silence ends it', async () => {
    service.configure(configuration({}, { firstContentMs: 10_000, idleMs: 1_500 }));
    primary.answers(stream(saying(...'slow but alive'), { gapMs: 150 }));
    assert.deepEqual(readStream((await post(service, path, chat)).text), whole('slow but alive'));
  });

  describe('onStreamFailure: continue', () => {
    const begun = [role, ...words('Once', ' upon')];
    beforeEach(() => service.configure(configuration({ onStreamFailure: 'continue' })));

    it('lets a fallback continue a broken stream from the text so far', async () => {
      primary.answers(stream(begun, { after: 'cut' }));
      backup.answers(stream([role, ': ping\n\n', ...words(' a', ' time'), stop, done]));
      const answer = await post(
        service,
        path,
        '{"model":"large", "stream":true,"messages":[{"role":"user","content":"hi"} ]}',
      );
      assert.deepEqual(readStream(answer.text), whole('Once upon a time'));
      const named = ': switchyard target=backup/other-y attempts=2 ignored=\n\n';
      assert.equal(answer.text, [...begun, named, ...words(' a', ' time'), stop, done].join(''));
      assert.equal(
        backup.seen[0]?.body.toString(),
        '{"model":"other-y", "stream":true,"messages":[{"role":"user","content":"hi"} ,{"role":"assistant","content":"Once upon"}]}',
      );
      assert.equal(service.records[0]?.outcome, 'served');
      assert.equal(service.records[0]?.target, 'backup/other-y');
    });

    it('lets a fallback continue a stream without end, which has a total time of its own', async () => {
      const { providers, ...others } = configuration({ onStreamFailure: 'continue' });
      service.configure({
        ...others,
        providers: { ...providers, primary: { ...providers.primary, timeouts: { totalMs: 500 } } },
      });
      primary.answers(async (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const piece of begun) res.write(piece);
        for (; !res.destroyed; await delay(50)) res.write(': ping\n\n');
      });
      backup.answers(stream([role, ...words(' a', ' time'), stop, done]));
      assert.deepEqual(readStream((await post(service, path, chat)).text), whole('Once upon a time'));
    });

    it('records the time that the client waited, not that of the continuation', async () => {
      for (const [rest, outcome] of [
        [stream(saying(' there'), { beforeHeadersMs: 300 }), 'served'],
        [stream([], { beforeHeadersMs: 300, after: 'cut' }), 'broken-off'],
      ] as const) {
        service.records.length = 0;
        primary.answers(stream(begun, { after: 'cut' }));
        backup.answers(rest);
        await post(service, path, chat);
        const record = service.records[0] ?? assert.fail('there is no record');
        assert.equal(record.outcome, outcome);
        const afterFirst = record.totalMs - (record.firstContentMs ?? record.totalMs);
        assert.ok(afterFirst > 250, `it went on for ${afterFirst} ms`);
      }
    });

    it('continues a stream with umlauts and emoji, however they were spelled', async () => {
      primary.answers(
        stream([role, 'data: {"choices":[{"index":0,"delta":{"content":"\\u00fc \\ud83d\\ude00 \u00fc"}}]}\n\n'], {
          after: 'cut',
        }),
      );
      await post(service, path, chat);
      const { messages: sent } = JSON.parse(backup.seen[0]?.body.toString() ?? '');
      assert.deepEqual(sent.at(-1), { role: 'assistant', content: 'ü \u{1F600} ü' });
    });

    it('ends a continued stream with an error when the fallback fails, too', async () => {
      primary.answers(stream(begun, { after: 'cut' }));
      backup.answers(error(500, 'x'));
      const { text, error: reported } = readStream((await post(service, path, chat)).text);
      assert.equal(text, 'Once upon');
      assert.equal(reported?.code, 'provider_failed');
      assert.deepEqual(tries(), [1, 1]);
    });

    describe('with a provider that reports its usage in every event', () => {
      const counted = [
        role,
        chunk({ content: 'Once' }, null, { usage: { prompt_tokens: 1_000, completion_tokens: 1 } }),
        chunk({ content: ' upon' }, null, { usage: { prompt_tokens: 1_000, completion_tokens: 2 } }),
      ];
      const ofPrimary = {
        target: 'primary/gpt-x',
        provider: 'primary',
        tokens: { input: 1_000, output: 2 },
        audioSeconds: null,
        cost: (1_000 * 2 + 2 * 8) / 1_000_000,
      };
      const cheap = { provider: 'backup', model: 'other-y', prefill: true, price: { inputPerMillion: 1 } };
      const usageOf = (record: CallRecord | undefined) => {
        const { outcome, target, attempts, tokens, cost, brokenAttempts } = record ?? assert.fail('there is no record');
        return { outcome, target, attempts: attempts.length, tokens, cost, brokenAttempts };
      };

      beforeEach(() => {
        service.configure(configuration({ onStreamFailure: 'continue', fallbacks: [cheap] }));
        primary.answers(stream(counted, { after: 'cut' }));
      });

      it('records the usage of the broken attempt for its target, at its price, and the call for the other', async () => {
        const usage = chunk({}, null, { choices: [], usage: { prompt_tokens: 50, completion_tokens: 7 } });
        backup.answers(stream([role, ...words(' a', ' time'), stop, usage, done]));
        await post(service, path, chat);
        assert.deepEqual(usageOf(service.records[0]), {
          outcome: 'served',
          target: 'backup/other-y',
          attempts: 2,
          tokens: { input: 50, output: 7 },
          cost: 50 / 1_000_000,
          brokenAttempts: [ofPrimary],
        });
      });

      it('records it when the fallback fails, too, and nothing for an attempt without usage', async () => {
        backup.answers(error(500, 'x'));
        await post(service, path, chat);
        assert.deepEqual(usageOf(service.records[0]), {
          outcome: 'broken-off',
          target: 'backup/other-y',
          attempts: 2,
          tokens: null,
          cost: null,
          brokenAttempts: [ofPrimary],
        });
      });

      it('records it for the call when no other target is asked', async () => {
        service.configure(configuration({ onStreamFailure: 'continue', fallbacks: [] }));
        await post(service, path, chat);
        assert.deepEqual(usageOf(service.records[0]), {
          outcome: 'broken-off',
          target: 'primary/gpt-x',
          attempts: 1,
          tokens: ofPrimary.tokens,
          cost: ofPrimary.cost,
          brokenAttempts: [],
        });
      });

      it('records it for each attempt that broke before the client got content', async () => {
        service.configure(configuration({ onStreamFailure: 'whole', retries: 1 }));
        backup.answers(stream(saying('all')));
        await post(service, path, chat);
        assert.deepEqual(usageOf(service.records[0]), {
          outcome: 'served',
          target: 'backup/other-y',
          attempts: 3,
          tokens: null,
          cost: null,
          brokenAttempts: [ofPrimary, ofPrimary],
        });
      });
    });

    const others: ReadonlyArray<[string, object, ReadonlyArray<string>]> = [
      ['several choices', { n: 2 }, begun],
      ['tools', { tools: [{ type: 'function' }] }, begun],
      ['a JSON format', { response_format: { type: 'json_object' } }, begun],
      ['logprobs', { logprobs: true }, begun],
      ['a tool call in the answer', {}, [role, chunk({ tool_calls: [{ index: 0 }] })]],
    ];
    for (const [what, members, pieces] of others)
      it(`does not continue a stream for ${what}`, async () => {
        primary.answers(stream(pieces, { after: 'cut' }));
        const { error: reported } = readStream((await post(service, path, { ...chat, ...members })).text);
        assert.equal(reported?.code, 'provider_reset');
        assert.deepEqual(tries(), [1, 0]);
      });

    it('does not continue a stream without a fallback that can', async () => {
      service.configure(
        configuration({ onStreamFailure: 'continue', fallbacks: [{ provider: 'backup', model: 'y' }] }),
      );
      primary.answers(stream(begun, { after: 'cut' }));
      assert.equal(readStream((await post(service, path, chat)).text).error?.code, 'provider_reset');
      assert.deepEqual(tries(), [1, 0]);
    });
  });

  describe('onStreamFailure: whole', () => {
    beforeEach(() => service.configure(configuration({ onStreamFailure: 'whole' }, short)));

    for (const after of ['cut', 'end', 'stall'] as const)
      it(`serves a stream that broke (${after}) by another target, and the client sees only that`, async () => {
        primary.answers(stream([role, ...words('Once', ' upon')], { after }));
        const answer = await post(service, path, chat);
        assert.deepEqual(readStream(answer.text), whole('from the backup'));
        assert.equal(answer.text, saying('from', ' the', ' backup').join(''));
        assert.equal(answer.headers.get('x-switchyard-target'), 'backup/other-y');
      });

    it('answers with a status when no target completes the stream', async () => {
      primary.answers(stream([role, ...words('Once')], { after: 'stall' }));
      backup.answers(stream([role, ...words('Once')], { after: 'stall' }));
      const answer = await post(service, path, chat);
      assert.equal(answer.status, 504);
    });
  });

  describe('askUsage', () => {
    const usage = chunk({}, null, { choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } });
    const pieces = [role, ...words('a'), stop, usage, done];
    beforeEach(() => {
      service.configure(configuration({ askUsage: true }));
      primary.answers(stream(pieces));
    });

    const cases: ReadonlyArray<[string, string, string, boolean]> = [
      [
        'none',
        '{"model":"large","messages":[],"stream":true}',
        '{"stream_options":{"include_usage":true},"model":"gpt-x","messages":[],"stream":true}',
        false,
      ],
      [
        'null',
        '{"model":"large","messages":[],"stream":true,"stream_options":null}',
        '{"model":"gpt-x","messages":[],"stream":true,"stream_options":{"include_usage":true}}',
        false,
      ],
      [
        'others',
        '{"model":"large","messages":[],"stream":true,"stream_options":{ "x":1}}',
        '{"model":"gpt-x","messages":[],"stream":true,"stream_options":{"include_usage":true, "x":1}}',
        false,
      ],
      [
        'false',
        '{"model":"large","messages":[],"stream":true,"stream_options":{"include_usage": false}}',
        '{"model":"gpt-x","messages":[],"stream":true,"stream_options":{"include_usage": true}}',
        false,
      ],
      [
        'the client’s own',
        '{"model":"large","messages":[],"stream":true,"stream_options":{"include_usage": true}}',
        '{"model":"gpt-x","messages":[],"stream":true,"stream_options":{"include_usage": true}}',
        true,
      ],
    ];
    for (const [what, sent, expected, kept] of cases)
      it(`asks for usage with ${what} of stream_options`, async () => {
        const answer = await post(service, path, sent);
        assert.equal(primary.seen[0]?.body.toString(), expected);
        assert.equal(answer.text, pieces.filter((piece) => kept || piece !== usage).join(''));
        assert.deepEqual(service.records[0]?.tokens, { input: 2, output: 3 });
      });

    it('does not ask for usage of a chat that is not streamed', async () => {
      primary.answers(json({ choices: [] }));
      await post(service, path, '{"model":"large","messages":[]}');
      assert.equal(primary.seen[0]?.body.toString(), '{"model":"gpt-x","messages":[]}');
    });
  });

  it('slows a provider down that is faster than the client reads', async () => {
    const piece = words('x'.repeat(60_000))[0] ?? '';
    // 42 MB: more than the buffers of the sockets on the way.
    const pieces = 700;
    let written = 0;
    primary.answers(async (res) => {
      res.setMaxListeners(0);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let count = 0; count < pieces && !res.destroyed; count += 1) {
        written += piece.length;
        if (!res.write(piece)) await new Promise((resolve) => res.once('drain', resolve).once('close', resolve));
      }
      res.end(stop + done);
    });
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer sy_live_${'a'.repeat(40)}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat),
    });
    let before = -1;
    // The provider is blocked when nothing more is written for a while.
    while (written !== before) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 350));
    }
    assert.ok(written < pieces * piece.length, 'the provider is held up');
    assert.ok((await answer.text()).endsWith(stop + done));
    assert.equal(service.records[0]?.outcome, 'served');
  });

  it('carries many streams at the same time', async () => {
    primary.answers(stream(saying(...'many streams at once'), { gapMs: 5 }));
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(service, path, chat)));
    for (const { text } of answers) assert.deepEqual(readStream(text), whole('many streams at once'));
  });

  it('reuses the connections of streams on both sides', async () => {
    const before = primary.connections;
    for (let call = 0; call < 10; call += 1) await post(service, path, chat);
    assert.ok(primary.connections - before <= 2, String(primary.connections - before));
  });

  it('reports bytes that are not a stream', async () => {
    primary.answers(bytes('data: x', { 'content-type': 'text/plain' }));
    assert.deepEqual(readStream((await post(service, path, chat)).text), whole('from the backup'));
  });
});

/** Sends comments without end. */
async function _pinging(res: ServerResponse): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  await ping(res);
}

async function ping(res: ServerResponse): Promise<void> {
  while (!res.destroyed) {
    res.write(': ping\n\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
