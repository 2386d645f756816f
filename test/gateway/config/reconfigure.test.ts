import assert from 'node:assert/strict';
import {
  completion,
  done,
  error,
  FakeProvider,
  json,
  role,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, openChat, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('a gateway whose configuration changes', () => {
  let one: FakeProvider;
  let two: FakeProvider;
  let service: GatewayService;
  const configuration = (provider: FakeProvider, limits: object = {}) => ({
    providers: { p: { kind: 'openai-compatible', baseUrl: provider.baseUrl } },
    models: { m: { targets: [{ provider: 'p', model: 'x' }] } },
    limits,
  });
  const chat = { model: 'm', messages: [] };

  before(async () => {
    [one, two] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([one.stop(), two.stop()]));
  beforeEach(async () => {
    one.answers(json(completion('one')));
    two.answers(json(completion('two')));
    service = await startGateway(configuration(one));
  });
  afterEach(() => service.stop());

  it('serves the next call by the new configuration, and lets a running one end', async () => {
    let openGate: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    one.answers(async (res, seen) => {
      await stream([role, ...words('begun')], { after: 'stall' })(res, seen);
      await gate;
      res.end(words(' ended')[0] + stop + done);
    });
    const running = openChat(service, { ...chat, stream: true });
    await eventually(() => running.received().includes('begun'), 'the beginning');
    service.configure(configuration(two));
    assert.match((await post(service, '/v1/chat/completions', chat)).text, /"two"/);
    openGate();
    await running.ended;
    assert.ok(running.received().endsWith(stop + done));
    assert.equal(service.records.at(-1)?.outcome, 'served');
  });

  it('retries a running call with the configuration it began with, whose connections then close', async () => {
    let retried: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      retried = resolve;
    });
    one.answers(
      async (res, seen) => {
        await gate;
        await error(503, 'busy')(res, seen);
      },
      json(completion('one')),
    );
    const running = post(service, '/v1/chat/completions', chat);
    await eventually(() => one.seen.length === 1, 'the first try');
    service.configure(configuration(two));
    service.configure(configuration(two, { callsAtOnce: 5 }));
    retried();
    const answer = await running;
    assert.match(answer.text, /"one"/);
    assert.equal(answer.headers.get('x-switchyard-attempts'), '2');
    await eventually(() => one.open === 0, 'the end of its connections');
    assert.match((await post(service, '/v1/chat/completions', chat)).text, /"two"/);
  });

  it('keeps the connections of an unchanged provider', async () => {
    await post(service, '/v1/chat/completions', chat);
    const before = one.connections;
    service.configure(configuration(one));
    await post(service, '/v1/chat/completions', chat);
    assert.equal(one.connections, before);
  });

  describe('limits of a project', () => {
    const errorOf = (text: string) => (JSON.parse(text) as { error: { code: string; type: string } }).error;

    it('limit requests a minute, and send headers that state the limits', async () => {
      service.configure(configuration(one, { requestsPerMinute: 1 }));
      const first = await post(service, '/v1/chat/completions', chat);
      assert.equal(first.status, 200);
      assert.equal(first.headers.get('ratelimit-policy'), '"project";q=1;w=60');
      const second = await post(service, '/v1/chat/completions', chat);
      assert.equal(second.status, 429);
      assert.equal(errorOf(second.text).type, 'rate_limit_error');
      assert.ok(Number(second.headers.get('retry-after')) >= 1);
      assert.match(second.headers.get('ratelimit') ?? '', /^"project";r=0;t=\d+$/);
    });

    it('keep their counts when the configuration changes, and refused requests do not count', async () => {
      const statusOfNext = async () => (await post(service, '/v1/chat/completions', chat)).status;
      service.configure(configuration(one, { requestsPerMinute: 2 }));
      assert.deepEqual([await statusOfNext(), await statusOfNext(), await statusOfNext()], [200, 200, 429]);
      service.configure(configuration(two, { requestsPerMinute: 2 }));
      assert.equal(await statusOfNext(), 429);
      service.configure(configuration(two, { requestsPerMinute: 3 }));
      const answer = await post(service, '/v1/chat/completions', chat);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('ratelimit-policy'), '"project";q=3;w=60');
      assert.match(answer.headers.get('ratelimit') ?? '', /^"project";r=0;t=\d+$/);
      assert.equal(await statusOfNext(), 429);
      service.configure(configuration(two, { requestsPerMinute: 1 }));
      assert.equal(await statusOfNext(), 429);
    });

    it('count calls that began before there was a limit, or under another one', async () => {
      one.answers(() => undefined);
      const running = [openChat(service, chat), openChat(service, chat)];
      await eventually(() => one.seen.length === 2, 'the calls');
      service.configure(configuration(two, { callsAtOnce: 2 }));
      assert.equal((await post(service, '/v1/chat/completions', chat)).status, 429);
      service.configure(configuration(two, { callsAtOnce: 3 }));
      assert.equal((await post(service, '/v1/chat/completions', chat)).status, 200);
      for (const call of running) call.leave();
      await eventually(() => service.records.length === 3, 'the end of the calls');
      service.configure(configuration(two, { callsAtOnce: 1 }));
      assert.equal((await post(service, '/v1/chat/completions', chat)).status, 200);
    });

    it('limit concurrent calls, until one has ended or its client has left', async () => {
      service.configure(configuration(one, { callsAtOnce: 1 }));
      one.answers(() => undefined);
      const running = openChat(service, chat);
      await eventually(() => one.seen.length === 1, 'the call');
      const second = await post(service, '/v1/chat/completions', chat);
      assert.equal(second.status, 429);
      assert.equal(errorOf(second.text).code, 'too_many_calls');
      running.leave();
      one.answers(json(completion('one')));
      let answer = second;
      const end = performance.now() + 5_000;
      while (answer.status === 429 && performance.now() < end)
        answer = await post(service, '/v1/chat/completions', chat);
      assert.equal(answer.status, 200);
      assert.equal((await post(service, '/v1/chat/completions', chat)).status, 200);
    });
  });
});
