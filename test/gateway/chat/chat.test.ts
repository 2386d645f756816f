import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import {
  type Behaviour,
  bytes,
  completion,
  error,
  FakeProvider,
  json,
  reset,
  silence,
} from '#test/gateway/support/fake-provider.ts';
import { short } from '#test/gateway/support/gateway-of-two.ts';
import {
  type GatewayService,
  openChat,
  post,
  sendAndLeave,
  startGateway,
} from '#test/gateway/support/gateway-service.ts';
import { chatSamples } from '#test/gateway/text-protocols/chat-samples.ts';
import { describeTextProtocol } from '#test/gateway/text-protocols/describe-text-protocol.ts';
import { messagesSamples } from '#test/gateway/text-protocols/messages-samples.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { freePort } from '#test/support/run/free-port.ts';

const chat = { model: 'large', messages };

describeTextProtocol(chatSamples, messagesSamples);

describe('chat that is not streamed', () => {
  const given = chatService({
    primary: json(completion('from the primary')),
    backup: json(completion('from the backup')),
  });
  const { configuration } = given;
  let primary: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;

  beforeEach(() => {
    ({ primary, backup, service } = given);
  });

  const errorOf = (answer: { json: () => unknown }) =>
    (answer.json() as { error: { message: string; type: string; param: string | null; code: string | null } }).error;

  describe('bytes of a chat', () => {
    it('accepts a byte order mark, and a compressed answer that was not requested', async () => {
      const said = JSON.stringify(completion('said'));
      const type = { 'content-type': 'application/json' };
      primary.answers(bytes(`\ufeff${said}`, type));
      assert.deepEqual((await post(service, path, chat)).json(), completion('said'));
      for (const [encoding, compress] of [
        ['gzip', gzipSync],
        ['deflate', deflateSync],
        ['br', brotliCompressSync],
        ['zstd', zstdCompressSync],
      ] as const) {
        primary.answers(bytes(compress(said), { ...type, 'content-encoding': encoding }));
        const answer = await post(service, path, chat);
        assert.equal(answer.text, said, encoding);
        assert.equal(answer.headers.get('content-encoding'), null);
        assert.deepEqual(service.records.at(-1)?.tokens, { input: 5, output: 7 });
      }
      const bomb = gzipSync(Buffer.alloc(20_000_000, ' '));
      primary.answers(bytes(bomb, { ...type, 'content-encoding': 'gzip' }));
      assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'backup/other-y');
    });

    it('removes reasoning with auto, and keeps it with a named model', async () => {
      await post(service, path, '{"model":"auto", "reasoning":"balanced", "messages":[]}');
      await post(service, path, '{"model":"large", "reasoning":"odd", "messages":[]}');
      assert.deepEqual(
        primary.seen.map(({ body }) => body.toString()),
        ['{"model":"gpt-x", "messages":[]}', '{"model":"gpt-x", "reasoning":"odd", "messages":[]}'],
      );
      await post(service, path, '{"reasoning":"fast","model":"auto","messages":[]}');
      assert.equal(backup.seen[0]?.body.toString(), '{"model":"s","messages":[]}');
    });
  });

  it('returns the provider’s own id of the request, also with a refusal', async () => {
    primary.answers(error(400, 'x', { 'x-request-id': 'req_2' }));
    assert.equal((await post(service, path, chat)).headers.get('x-switchyard-provider-request-id'), 'req_2');
    primary.answers(error(503, 'x', { 'request-id': 'req_3' }));
    const failed = await post(service, path, { ...chat, model: 'alone' });
    assert.equal(failed.status, 503);
    assert.equal(failed.headers.get('x-switchyard-provider-request-id'), 'req_3');
    primary.answers(error(400, 'x', { 'x-request-id': 'not\xe4n id' }));
    assert.equal((await post(service, path, chat)).headers.get('x-switchyard-provider-request-id'), null);
  });

  it('refuses a body of too many values in speech, too', async () => {
    service = await given.restart(configuration(), { limits: { maxJsonValues: 100 } });
    const answer = await post(service, '/v1/audio/speech', { ...chat, extra: Array(200).fill({}) });
    assert.equal(answer.status, 422);
    assert.equal(errorOf(answer).code, 'too_many_values');
    assert.match(String(errorOf(answer).param), /^extra\[\d+\]$/);
    assert.match(answer.text, /"loc":\["body","extra",\d+\]/);
    assert.equal(primary.seen.length + backup.seen.length, 0);
  });

  describe('a provider that misbehaves', () => {
    interface Expected {
      readonly status: number;
      readonly says?: string;
      readonly code?: string;
      readonly tries: readonly [number, number];
    }
    const fallback = (tries: number): Expected => ({ status: 200, says: 'from the backup', tries: [tries, 1] });
    const recovered: Expected = { status: 200, says: 'from the primary', tries: [2, 0] };
    const good = json(completion('from the primary'));
    const cases: ReadonlyArray<[string, ReadonlyArray<Behaviour>, Expected]> = [
      ['429 once, with a Retry-After of two seconds', [error(429, 'x', { 'retry-after': '2' }), good], recovered],
      ['context length', [error(400, 'context_length_exceeded')], fallback(1)],
      [
        'content policy',
        [error(400, 'content_policy_violation')],
        { status: 400, code: 'content_policy_violation', tries: [1, 0] },
      ],
    ];
    for (const [what, behaviours, { status, says, code, tries }] of cases)
      it(`answers for a provider that ${what}: ${status}${says === undefined ? '' : `, ${says}`}`, async () => {
        primary.answers(...behaviours);
        const answer = await post(service, path, chat);
        assert.equal(answer.status, status, answer.text);
        assert.deepEqual([primary.seen.length, backup.seen.length], tries);
        assert.equal(answer.headers.get('x-switchyard-attempts'), String(tries[0] + tries[1]));
        if (says !== undefined) {
          assert.equal((answer.json() as ReturnType<typeof completion>).choices[0]?.message.content, says);
          assert.equal(answer.headers.get('x-switchyard-target'), tries[1] > 0 ? 'backup/other-y' : 'primary/gpt-x');
        }
        if (code !== undefined) assert.equal(errorOf(answer).code, code);
        assert.equal(service.records.length, 1);
        assert.equal(service.records[0]?.outcome, status === 200 ? 'served' : 'refused');
        assert.equal(service.records[0]?.attempts.length, tries[0] + tries[1]);
      });

    it('sends the same bytes with each retry, with the target’s own model', async () => {
      primary.answers(error(500, 'x'));
      await post(service, path, '{"model":"large", "messages":[],"a":1}');
      const sent = [...primary.seen, ...backup.seen].map(({ body }) => body.toString());
      const own = '{"model":"gpt-x", "messages":[],"a":1}';
      assert.deepEqual(sent, [own, own, own, '{"model":"other-y", "messages":[],"a":1}']);
    });

    it('waits for a target up to the configured wait before it asks another', async () => {
      const busy = error(429, 'x', { 'retry-after-ms': '101' });
      for (const [retryAfterMaxMs, retries, expected] of [
        [101, 2, [2, 0]],
        [100, 2, [1, 1]],
        [101, 0, [1, 1]],
      ] as const) {
        service = await given.restart(configuration({ retryAfterMaxMs, retries }), {});
        primary.answers(busy, good);
        backup.answers(json(completion('from the backup')));
        assert.equal((await post(service, path, chat)).status, 200);
        assert.deepEqual([primary.seen.length, backup.seen.length], expected);
      }
    });

    it('waits as long as the provider asks', async () => {
      primary.answers(error(429, 'x', { 'retry-after': '1' }), good);
      const answer = await post(service, path, { ...chat, model: 'alone' });
      assert.equal(answer.status, 200);
      const [first, second] = primary.seen;
      assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 995);
    });
  });

  describe('when no attempt is left', () => {
    const cases: ReadonlyArray<[string, Behaviour, number, string | null, string | null]> = [
      ['500', error(500, 'x'), 502, 'provider_failed', null],
      ['503 with Retry-After', error(503, 'x', { 'retry-after': '20' }), 503, 'provider_overloaded', '20'],
      ['504', error(504, 'x'), 504, 'provider_timeout', null],
      ['silence', silence, 504, 'provider_timeout', null],
      ['reset', reset, 502, 'provider_reset', null],
      ['401', error(401, 'invalid_api_key', {}, 'Wrong key: provider-secret'), 502, 'provider_key_refused', null],
      ['429', error(429, 'rate_limit', { 'retry-after': '30', 'x-should-retry': 'true' }), 429, 'rate_limit', '30'],
      ['404', error(404, 'model_gone'), 404, 'model_gone', null],
      ['a refusal without an error object', bytes('{"message":"odd"}', {}, 400), 400, null, null],
    ];
    for (const [what, behaviour, status, code, retryAfter] of cases)
      it(`answers ${status}: ${what}`, async () => {
        if (what === 'silence') service.configure(configuration({}, short));
        primary.answers(behaviour);
        const answer = await post(service, path, { ...chat, model: 'alone' });
        assert.equal(answer.status, status, answer.text);
        assert.equal(errorOf(answer).code, code);
        assert.deepEqual(Object.keys(errorOf(answer)), ['message', 'type', 'param', 'code']);
        assert.equal(answer.headers.get('retry-after'), retryAfter);
        assert.equal(answer.headers.get('x-switchyard-target'), 'primary/gpt-x');
        assert.doesNotMatch(answer.text + service.logged(), /provider-secret/);
      });

    it('answers 503 for a provider that does not exist', async () => {
      const gone = await FakeProvider.start(await freePort());
      const { baseUrl } = gone;
      await gone.stop();
      service.configure({
        providers: { gone: { kind: 'openai-compatible', baseUrl } },
        models: { large: { targets: [{ provider: 'gone', model: 'x' }], retries: 0 } },
      });
      const answer = await post(service, path, chat);
      assert.equal(answer.status, 503);
      assert.equal(errorOf(answer).code, 'provider_unreachable');
      assert.equal(answer.headers.get('retry-after'), '1');
    });

    it('reads a compressed refusal', async () => {
      const sent = JSON.stringify({
        error: { message: 'No.', type: 'invalid_request_error', param: null, code: 'no' },
      });
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      primary.answers(bytes(gzipSync(sent), headers, 400));
      const answer = await post(service, path, chat);
      assert.equal(answer.status, 400);
      assert.equal(answer.text, sent);
      primary.answers(bytes('no gzip', headers, 400));
      assert.equal(errorOf(await post(service, path, chat)).message, 'The provider refused with status 400.');
    });

    it('ends an attempt that hangs with 504 when the time of the call is over', async () => {
      service.configure(configuration({ fallbacks: [] }, { totalMs: 250 }));
      primary.answers(silence);
      const answer = await post(service, path, chat);
      assert.equal(answer.status, 504);
      assert.equal(primary.seen.length, 1);
    });

    describe('the total time of a fallback', () => {
      /** @param model further settings of the model */
      const configure = (primaryMs: number, backupMs: number, model: object = {}) => {
        const { providers, ...others } = configuration({ retries: 0, ...model });
        service.configure({
          ...others,
          providers: {
            primary: { ...providers.primary, timeouts: { totalMs: primaryMs } },
            backup: { ...providers.backup, timeouts: { totalMs: backupMs } },
          },
        });
      };
      const late = (milliseconds: number, behaviour: Behaviour): Behaviour => {
        return (res, seen) => void setTimeout(() => behaviour(res, seen), milliseconds);
      };

      it('is its own when it is longer than that of the target before', async () => {
        configure(400, 10_000);
        primary.answers(error(500, 'x'));
        backup.answers(late(800, json(completion('slow'))));
        assert.equal((await post(service, path, chat)).status, 200);
      });

      it('begins with its first attempt, whatever the target before has used', async () => {
        configure(10_000, 1_000);
        primary.answers(late(1_100, error(500, 'x')));
        assert.equal((await post(service, path, chat)).status, 200);
      });

      it('begins also when that of the target before is over', async () => {
        configure(300, 10_000);
        primary.answers(silence);
        assert.equal((await post(service, path, chat)).status, 200);
      });

      it('is its own when it is shorter than that of the target before', async () => {
        configure(10_000, 300);
        primary.answers(error(500, 'x'));
        backup.answers(silence);
        assert.equal((await post(service, path, chat)).status, 504);
        assert.ok((service.records[0]?.totalMs ?? 1e9) < 5_000);
      });

      it('is that of the model when the model states one for all attempts together', async () => {
        configure(10_000, 10_000, { timeouts: { totalMs: 300 } });
        primary.answers(error(500, 'x'));
        backup.answers(silence);
        assert.equal((await post(service, path, chat)).status, 504);
        assert.ok((service.records[0]?.totalMs ?? 1e9) < 5_000);
      });
    });

    it('refuses immediately when a wait does not fit into the time of the call', async () => {
      service.configure(configuration({ fallbacks: [] }, { totalMs: 8_000 }));
      primary.answers(error(503, 'x', { 'retry-after-ms': '8000' }));
      const answer = await post(service, path, chat);
      assert.equal(answer.status, 503);
      assert.equal(primary.seen.length, 1);
    });
  });

  describe('routing', () => {
    it('picks targets by weight, and asks the other one when the first fails', async () => {
      const targets = [
        { provider: 'primary', model: 'a', weight: 1 },
        { provider: 'backup', model: 'b', weight: 1 },
      ];
      let draw = 0;
      service = await given.restart(configuration({ targets, fallbacks: [], retries: 0 }), { random: () => draw });
      assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'primary/a');
      draw = 0.75;
      assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'backup/b');
      backup.answers(error(500, 'x'));
      assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'primary/a');
    });

    it('opens the circuit of a failing target, and calls it again within three seconds of its recovery', async () => {
      primary.answers(error(500, 'x'));
      for (let call = 0; call < 3; call += 1) await post(service, path, chat);
      const asked = primary.seen.length;
      assert.ok(asked <= 6, `${asked} tries`);
      await post(service, path, chat);
      assert.equal(primary.seen.length, asked, 'it is left alone');
      primary.answers(json(completion('from the primary')));
      service.letCircuitsWait(3_000);
      const answer = await post(service, path, chat);
      assert.deepEqual([answer.status, answer.headers.get('x-switchyard-target')], [200, 'primary/gpt-x']);
    });

    it('calls a provider again within three seconds when it was unreachable and comes back', async () => {
      const gone = await FakeProvider.start(await freePort());
      const { baseUrl, port } = gone;
      await gone.stop();
      const primaryGone = { kind: 'openai-compatible', baseUrl };
      service.configure({ ...configuration(), providers: { ...configuration().providers, primary: primaryGone } });
      for (let call = 0; call < 4; call += 1)
        assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'backup/other-y');
      const back = await FakeProvider.start(port);
      back.answers(json(completion('from the primary')));
      try {
        service.letCircuitsWait(3_000);
        assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'primary/gpt-x');
      } finally {
        await back.stop();
      }
    });

    /** Fails every second time, and then answers. */
    const failingHalf = (): Behaviour => {
      let calls = 0;
      return (res, seen) => {
        calls += 1;
        return (calls % 2 === 0 ? error(500, 'x') : json(completion('from the primary')))(res, seen);
      };
    };

    it('opens the circuit of a target that fails every second time, while another is left', async () => {
      service.configure(configuration({ retries: 0 }));
      primary.answers(failingHalf());
      for (let call = 0; call < 20; call += 1) assert.equal((await post(service, path, chat)).status, 200);
      assert.equal(primary.seen.length, 20);
      assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'backup/other-y');
      assert.equal(primary.seen.length, 20, 'it is left alone');
    });

    for (const [what, model] of [
      ['the only one', { retries: 0, fallbacks: [] }],
      ['the last one that is left', { retries: 0 }],
    ] as const)
      it(`keeps the circuit of a target closed that fails every second time, when it is ${what}`, async () => {
        service.configure(configuration(model));
        for (let call = 0; call < 5; call += 1)
          service.gateway.relayDependencies.breaker.recordFailure('backup/other-y', performance.now());
        primary.answers(failingHalf());
        for (let call = 0; call < 40; call += 1) await post(service, path, chat);
        assert.equal(primary.seen.length, 40);
        assert.equal(service.gateway.relayDependencies.breaker.state('primary/gpt-x'), 'closed');
      });

    it('lets the next call try a half-open target immediately when the client of the call before has left', async () => {
      service.configure(configuration({ retries: 0 }));
      primary.answers(error(500, 'x'));
      for (let call = 0; call < 5; call += 1) await post(service, path, chat);
      service.letCircuitsWait(1_600);
      primary.answers(silence);
      const client = openChat(service, chat);
      await eventually(() => primary.seen.length === 1, 'the call that tries the target');
      client.leave();
      await eventually(() => service.records.at(-1)?.outcome === 'client-gone', 'the record');
      primary.answers(json(completion('from the primary')));
      assert.equal((await post(service, path, chat)).headers.get('x-switchyard-target'), 'primary/gpt-x');
    });

    it('never opens all circuits of a model at the same time', async () => {
      primary.answers(error(500, 'x'));
      backup.answers(error(500, 'x'));
      for (let call = 0; call < 4; call += 1) assert.equal((await post(service, path, chat)).status, 502);
      const asked = primary.seen.length + backup.seen.length;
      await post(service, path, chat);
      assert.ok(primary.seen.length + backup.seen.length > asked, 'one is asked all the same');
    });
  });

  describe('a provider that accepts no connection', () => {
    let silent: Server;
    let connections: Socket[];
    beforeEach(async () => {
      connections = [];
      // The server accepts connections but never completes a TLS handshake.
      silent = createServer((socket) => void connections.push(socket.on('error', () => undefined)));
      const { promise, resolve } = Promise.withResolvers<void>();
      silent.listen(0, '127.0.0.1', resolve);
      await promise;
      const baseUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
      const speechless = { kind: 'openai-compatible', baseUrl, timeouts: { connectMs: 300 } };
      service.configure({ ...configuration(), providers: { ...configuration().providers, primary: speechless } });
    });
    afterEach(() => {
      for (const socket of connections) socket.destroy();
      silent.close();
    });

    it('is skipped for the next provider when the connect timeout runs out', async () => {
      const answer = await post(service, path, chat);
      assert.equal(answer.headers.get('x-switchyard-target'), 'backup/other-y');
      assert.equal(answer.headers.get('x-switchyard-attempts'), '2');
    });

    it('is not awaited when the client leaves', async () => {
      const client = openChat(service, chat);
      await eventually(() => connections.length > 0, 'the connection');
      client.leave();
      await eventually(() => service.records.length === 1, 'the record');
      assert.equal(service.records[0]?.outcome, 'client-gone');
      assert.equal(backup.seen.length, 0);
    });
  });

  describe('a kept connection that the provider closes just when it is used again', () => {
    const good = json(completion('from the primary'));
    const alone = (retries: number) => service.configure(configuration({ retries, fallbacks: [] }));

    for (const [how, closing] of [
      ['by a reset', reset],
      ['by its end', (res) => void res.socket?.end()],
    ] as const satisfies ReadonlyArray<readonly [string, Behaviour]>) {
      it(`is a failed attempt, after which the request is not sent again without retries: ${how}`, async () => {
        alone(0);
        primary.answers(good, closing, good);
        await post(service, path, chat);
        const answer = await post(service, path, chat);
        assert.equal(errorOf(answer).code, 'provider_reset');
        assert.equal(answer.headers.get('x-switchyard-attempts'), '1');
        assert.equal(primary.seen.length, 2);
      });

      it(`is retried and counted like any other failed attempt: ${how}`, async () => {
        alone(1);
        primary.answers(good, closing, good);
        await post(service, path, chat);
        const answer = await post(service, path, chat);
        assert.deepEqual([answer.status, answer.headers.get('x-switchyard-attempts')], [200, '2']);
        assert.equal(primary.seen.length, 3);
        const { attempts } = service.records[1] ?? assert.fail('there is no record');
        assert.deepEqual(
          attempts.map(({ target, result, errorType }) => [target, result, errorType]),
          [
            ['primary/gpt-x', 'failed', 'provider_reset'],
            ['primary/gpt-x', 'served', null],
          ],
        );
      });
    }

    it('is replaced without an attempt when it has closed before the request is sent', async () => {
      alone(0);
      let closed = false;
      primary.answers((res, seen) => {
        const { socket } = res;
        socket?.once('close', () => {
          closed = true;
        });
        good(res, seen);
        setTimeout(() => socket?.destroy(), 50);
      }, good);
      await post(service, path, chat);
      await eventually(() => closed, 'the end of the connection');
      const answer = await post(service, path, chat);
      assert.deepEqual([answer.status, answer.headers.get('x-switchyard-attempts')], [200, '1']);
      assert.equal(primary.seen.length, 2);
    });
  });

  describe('a kept connection that is idle', () => {
    const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    /** Answers with these headers. Node adds its own `Keep-Alive` only without `Connection`. */
    const keeping = (headers: Record<string, string> = {}) =>
      json(completion('from the primary'), 200, { connection: 'keep-alive', ...headers });

    it('is used again until a second before the provider closes it, and not after', async () => {
      primary.answers(keeping({ 'keep-alive': 'timeout=2' }));
      const before = primary.connections;
      for (let call = 0; call < 2; call += 1) await post(service, path, chat);
      assert.equal(primary.connections - before, 1);
      await sleep(1_300);
      await post(service, path, chat);
      assert.equal(primary.connections - before, 2);
    });

    it('is used again for four seconds when the provider does not say when it closes it @long', async () => {
      primary.answers(keeping());
      const before = primary.connections;
      await post(service, path, chat);
      await sleep(2_000);
      await post(service, path, chat);
      assert.equal(primary.connections - before, 1);
      await sleep(4_300);
      await post(service, path, chat);
      assert.equal(primary.connections - before, 2);
    });
  });

  describe('a client that leaves a chat', () => {
    it('makes no further attempt when the client leaves during a wait', async () => {
      primary.answers(error(503, 'x', { 'retry-after-ms': '4000' }));
      const client = openChat(service, { ...chat, model: 'alone' });
      await eventually(() => primary.seen.length === 1, 'the call');
      client.leave();
      await eventually(() => service.records.length === 1, 'the record');
      assert.deepEqual([service.records[0]?.outcome, primary.seen.length], ['client-gone', 1]);
      assert.ok((service.records[0]?.totalMs ?? 1e9) < 3_990, 'it did not wait for the next attempt');
    });
  });

  it('ends a chat when the client has left before its body was read', async () => {
    const key = Promise.withResolvers<void>();
    const waiting = await startGateway(
      { ...configuration(), limits: { callsAtOnce: 1 } },
      { beforeKey: () => key.promise },
    );
    try {
      await sendAndLeave(waiting, path, Buffer.from(JSON.stringify(chat)), { 'content-type': 'application/json' });
      key.resolve();
      assert.equal((await post(waiting, path, chat)).status, 200);
    } finally {
      await waiting.stop();
    }
  });

  it('records each failed attempt, with its target and the type of its error', async () => {
    primary.answers(
      error(429, 'rate_limit_exceeded', { 'retry-after-ms': '1' }),
      error(500, 'a text, which is not a name'),
      reset,
    );
    assert.equal((await post(service, path, chat)).status, 200);
    primary.answers(json({ error: { message: 'No.' } }, 400));
    assert.equal((await post(service, path, chat)).status, 400);
    assert.deepEqual(
      service.records.map(({ outcome, attempts }) => [
        outcome,
        attempts.map(({ status, errorType, reason }) => [status, errorType, reason]),
      ]),
      [
        [
          'served',
          [
            [429, 'rate_limit_exceeded', 'provider_busy'],
            [500, 'some_error', 'provider_failed'],
            [null, 'provider_reset', 'provider_reset'],
            [200, null, null],
          ],
        ],
        ['refused', [[400, 'http_400', 'provider_refused']]],
      ],
    );
  });

  it('reuses connections', async () => {
    const before = primary.connections;
    for (let call = 0; call < 10; call += 1) await post(service, path, chat);
    assert.ok(primary.connections - before <= 2);
  });

  it('lists the models', async () => {
    const answer = await fetch(`${service.url}/v1/models`, { headers: { 'x-api-key': `sy_live_${'a'.repeat(40)}` } });
    const { object, data } = (await answer.json()) as {
      object: string;
      data: ReadonlyArray<{ id: string; owned_by: string }>;
    };
    assert.equal(object, 'list');
    assert.deepEqual(
      data.map(({ id, owned_by }) => `${id} ${owned_by}`),
      ['auto switchyard', 'large primary, backup', 'alone primary', 'small backup'],
    );
  });
});
