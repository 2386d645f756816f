import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import {
  type Behaviour,
  chunk,
  done,
  error,
  FakeProvider,
  role,
  saying,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { movedTime } from '#test/gateway/support/moved-time.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const clients = ['/v1/chat/completions', '/v1/messages', '/v1/responses'] as const;
type Client = (typeof clients)[number];

const waiting: Readonly<Record<Client, string>> = {
  '/v1/chat/completions': ': waiting\n\n',
  '/v1/messages': 'event: ping\ndata: {"type":"ping"}\n\n',
  '/v1/responses': ': waiting\n\n',
};

/** A client's stream while it arrives. */
interface Reading {
  readonly status: number;
  readonly headers: Headers;
  /** What has come so far. */
  readonly text: () => string;
  readonly end: Promise<void>;
  readonly leave: () => void;
}

describe('The early head', () => {
  const time = movedTime();
  let primary: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;
  let res: ServerResponse | null = null;

  const configuration = (model: object = {}, timeouts: object = {}) => ({
    providers: {
      primary: { kind: 'openai-compatible', baseUrl: primary.baseUrl, timeouts },
      backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl, timeouts },
    },
    models: {
      m: {
        targets: [{ provider: 'primary', model: 'x' }],
        fallbacks: [{ provider: 'backup', model: 'y' }],
        retries: 0,
        ...model,
      },
    },
  });

  before(async () => {
    [primary, backup] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([primary.stop(), backup.stop()]));
  beforeEach(async () => {
    res = null;
    primary.answers(mute);
    backup.answers(stream(saying('from', ' the', ' backup')));
    service = await startGateway(configuration());
  });
  afterEach(() => service.stop());

  /** Answers 200 with a stream, and then as the test says. */
  const mute: Behaviour = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    res = response;
  };
  const hasAnswered = () => eventually(() => res);

  /** Begins a call. Resolves when its head has come. */
  const begin = async (client: Client): Promise<Reading> => {
    const leaving = new AbortController();
    const input = client === '/v1/responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] };
    const answer = await fetch(service.url + client, {
      method: 'POST',
      headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream: true, max_tokens: 9, ...input }),
      signal: leaving.signal,
    });
    let text = '';
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const piece of answer.body ?? []) text += decoder.decode(piece, { stream: true });
    };
    return {
      status: answer.status,
      headers: answer.headers,
      text: () => text,
      end: read().catch(() => undefined),
      leave: () => leaving.abort(),
    };
  };
  /** Begins a call whose target is silent for so long that its client has the head. */
  const beginEarly = async (client: Client) => {
    const reading = begin(client);
    await hasAnswered();
    await time.pass(5_001);
    return reading;
  };

  for (const client of clients) {
    it(`comes with a sign of life after five seconds of silence, and again every 15 s, at ${client}`, async () => {
      const begun = begin(client);
      const provider = await hasAnswered();
      await time.pass(4_000);
      assert.equal(await Promise.race([begun, null]), null);
      await time.pass(1_001);
      const reading = await begun;
      assert.deepEqual([reading.status, reading.headers.get('x-switchyard-target')], [200, 'primary/x']);
      assert.match(reading.headers.get('content-type') ?? '', /^text\/event-stream/);
      await eventually(() => reading.text() === waiting[client]);
      for (const signs of [2, 3]) {
        await time.pass(14_000);
        assert.equal(reading.text(), waiting[client].repeat(signs - 1));
        await time.pass(1_001);
        await eventually(() => reading.text() === waiting[client].repeat(signs));
      }
      provider.write(role + words('late').join(''));
      await eventually(() => reading.text().includes('late'));
      assert.ok(!reading.text().includes('switchyard'), 'the head names this target');
      const soFar = reading.text();
      await time.pass(15_001);
      await eventually(() => reading.text() === soFar + waiting[client]);
      provider.end(stop + done);
      await reading.end;
      assert.equal(service.records[0]?.outcome, 'served');
    });

    it(`lets another target serve, which a comment names before its first content, at ${client}`, async () => {
      const reading = await beginEarly(client);
      res?.destroy();
      await reading.end;
      const [before = '', after = ''] = reading.text().split(': switchyard target=backup/y attempts=2 ignored=');
      assert.equal(before, waiting[client]);
      assert.match(after, /from.* the.* backup/s);
      assert.equal(reading.headers.get('x-switchyard-target'), 'primary/x');
      const { outcome, target } = service.records[0] ?? assert.fail('there is no record');
      assert.deepEqual([outcome, target], ['served', 'backup/y']);
    });

    it(`is followed by an error in the form of ${client}, with the status that would have been sent`, async () => {
      backup.answers(error(429, 'rate_limited', { 'retry-after': '60' }));
      const reading = await beginEarly(client);
      res?.destroy();
      await reading.end;
      const said = reading.text().slice(waiting[client].length);
      const events = said.split('\n\n').filter((each) => each !== '');
      if (client === '/v1/chat/completions') {
        assert.equal(events.length, 1);
        assert.equal(JSON.parse(said.replace('data: ', '')).error.code, 'rate_limited');
      } else if (client === '/v1/messages') {
        assert.match(said, /^event: error\ndata: \{"type":"error","error":\{"type":"rate_limit_error"/);
        assert.equal(events.length, 1);
      } else {
        const [created, failed] = events.map((each) => JSON.parse(each.replace(/^event: .*\ndata: /, '')));
        assert.deepEqual([events.length, created.type, failed.type], [2, 'response.created', 'response.failed']);
        assert.deepEqual([failed.response.status, failed.response.error.code], ['failed', 'rate_limited']);
        assert.equal(failed.response.id, created.response.id);
        assert.deepEqual([created.response.store, failed.response.store], [false, false], 'nobody can read it later');
        assert.deepEqual([created.sequence_number, failed.sequence_number], [0, 1]);
      }
      const { outcome, errorCode, reason } = service.records[0] ?? assert.fail('there is no record');
      assert.deepEqual([outcome, errorCode, reason], ['failed', 'rate_limited', 'provider_busy']);
      await eventually(() => /"status":429/.test(service.logged()));
    });
  }

  it('comes not before a target has answered with a stream, so refusals keep their status', async () => {
    primary.answers((response) => {
      res = response;
    });
    const reading = begin(clients[0]);
    const provider = await hasAnswered();
    await time.pass(30_000);
    assert.equal(await Promise.race([reading, null]), null);
    await error(400, 'no')(provider, {} as never);
    assert.equal((await reading).status, 400);
  });

  it('comes not after content, after the end of an attempt, or in the silence of the next one', async () => {
    primary.answers((response) => {
      mute(response, {} as never);
      response.destroy();
    });
    backup.answers((response) => {
      res = response;
    });
    const reading = begin(clients[0]);
    await hasAnswered();
    await time.pass(30_000);
    assert.equal(await Promise.race([reading, null]), null);
    await stream(saying('late'))(res ?? assert.fail(), {} as never);
    assert.equal((await reading).headers.get('x-switchyard-target'), 'backup/y');
  });

  it('comes after the time of the configuration, and never at 0', async () => {
    service.configure(configuration({ timeouts: { earlyHeadMs: 100 } }));
    const begun = begin(clients[0]);
    await hasAnswered();
    await time.pass(101);
    const reading = await begun;
    reading.leave();
    await reading.end;
    res = null;
    service.configure(configuration({ timeouts: { earlyHeadMs: 0 } }));
    const never = begin(clients[0]);
    const provider = await hasAnswered();
    await time.pass(50_000);
    assert.equal(await Promise.race([never, null]), null);
    provider.end(saying('late').join(''));
    await (await never).end;
  });

  it('comes not where the answer is held whole', async () => {
    service.configure(configuration({ onStreamFailure: 'whole' }));
    const begun = begin(clients[0]);
    const provider = await hasAnswered();
    await time.pass(50_000);
    provider.write(role + words('late').join(''));
    await time.pass(50_000);
    assert.equal(await Promise.race([begun, null]), null);
    provider.end(stop + done);
    const reading = await begun;
    await reading.end;
    assert.ok(!reading.text().includes('waiting'));
  });

  it('ends with its client', async () => {
    const reading = await beginEarly(clients[0]);
    reading.leave();
    await reading.end;
    await eventually(() => service.records[0]?.outcome === 'client-gone');
  });

  it('does not interrupt an event that has come in part', async () => {
    const reading = await beginEarly(clients[0]);
    const event = chunk({ content: 'one' });
    res?.write(event.slice(0, 20));
    await time.pass(15_001);
    res?.end(event.slice(20) + stop + done);
    await reading.end;
    assert.equal(reading.text(), `: waiting\n\n: waiting\n\n${event}${stop}${done}`);
  });

  describe('of speech', () => {
    it('does not exist', async () => {
      service.configure({
        ...configuration(),
        voices: { alloy: { provider: 'primary', voice: 'alloy', model: 'tts' } },
      });
      const answer = fetch(`${service.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'auto', voice: 'alloy', input: 'hi', stream_format: 'sse' }),
      });
      const provider = await hasAnswered();
      await time.pass(50_000);
      assert.equal(await Promise.race([answer, null]), null);
      provider.end('data: {"type":"speech.audio.done"}\n\n');
      assert.equal(await (await answer).text(), 'data: {"type":"speech.audio.done"}\n\n');
    });
  });
});
