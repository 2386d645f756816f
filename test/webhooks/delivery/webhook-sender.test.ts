import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { WebhookSender } from '#webhooks/delivery/webhook-sender.ts';
import { type HostAddress, UrlGuard } from '#webhooks/url-guard.ts';

const loopback: HostAddress = { address: '127.0.0.1', family: 4 };
const { signal } = new AbortController();

describe('WebhookSender', () => {
  const receiver = new WebhookReceiver();
  const senders: WebhookSender[] = [];
  before(() => receiver.start());
  after(() => receiver.close());
  afterEach(async () => {
    receiver.answer = (response) => response.writeHead(204).end();
    receiver.messages.length = 0;
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
  });

  /** @param resolve default: every name is this machine @param options default: private networks are allowed */
  const newSender = (
    resolve: (hostname: string) => Promise<ReadonlyArray<HostAddress>> = async () => [loopback],
    { allowsPrivateNetworks = true, timeoutMs = 5_000 } = {},
  ) => {
    const sender = new WebhookSender({ guard: new UrlGuard({ allowsPrivateNetworks, resolve }), timeoutMs });
    senders.push(sender);
    return (url: string) => sender.send({ url, headers: { 'webhook-id': 'one' }, body: '{}', signal });
  };
  const named = (path = '/') => `${receiver.url.replace('127.0.0.1', 'receiver.example')}${path}`;

  it('connects to the resolved address, and sends the name of the host', async () => {
    assert.deepEqual(await newSender()(named('/hooks')), { status: 204, error: null, receiverRequest: null });
    const [message] = receiver.messages;
    assert.match(message?.headers.host ?? '', /^receiver\.example:/);
    assert.deepEqual([message?.path, message?.body, message?.headers['webhook-id']], ['/hooks', '{}', 'one']);
  });

  it('connects to no host that resolves to a private address', async () => {
    const send = newSender(undefined, { allowsPrivateNetworks: false });
    assert.deepEqual(await send(named()), { status: null, error: 'address-refused', receiverRequest: null });
    assert.deepEqual(receiver.messages, []);
  });

  it('connects to no private address in the URL itself', async () => {
    const send = newSender(undefined, { allowsPrivateNetworks: false });
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433']) {
      const { port } = new URL(receiver.url);
      assert.deepEqual(
        await send(`http://${host}:${port}/`),
        { status: null, error: 'address-refused', receiverRequest: null },
        host,
      );
    }
    assert.deepEqual(receiver.messages, []);
  });

  it('checks the same resolved address that it connects to, even if name servers change their answers', async () => {
    const answers = [[{ address: '93.184.216.34', family: 4 as const }], [loopback]];
    const guard = new UrlGuard({ allowsPrivateNetworks: false, resolve: async () => answers.shift() ?? [] });
    const sender = new WebhookSender({ guard, timeoutMs: 5_000 });
    senders.push(sender);
    assert.equal(await guard.faultOf(named().replace('http:', 'https:')), null);
    const sent = await sender.send({ url: named(), headers: {}, body: '{}', signal });
    assert.deepEqual(sent, { status: null, error: 'address-refused', receiverRequest: null });
    assert.deepEqual([answers, receiver.messages], [[], []]);
  });

  it('follows no redirect', async () => {
    receiver.answer = (response) => response.writeHead(308, { location: '/elsewhere' }).end();
    assert.deepEqual(await newSender()(named('/first')), {
      ...{ status: 308, error: 'redirect' },
      receiverRequest: { isGone: false, retryAfterMs: null, isForAll: false },
    });
    assert.deepEqual(
      receiver.messages.map(({ path }) => path),
      ['/first'],
    );
  });

  it('reads the requested wait from a refusal', async () => {
    const send = newSender();
    const cases = [
      [410, {}, { isGone: true, retryAfterMs: null, isForAll: false }],
      [429, { 'retry-after': '7' }, { isGone: false, retryAfterMs: 7_000, isForAll: true }],
      [503, { 'retry-after': ['7', '8'] }, { isGone: false, retryAfterMs: null, isForAll: true }],
      [500, { 'retry-after': '99999999' }, { isGone: false, retryAfterMs: 86_400_000, isForAll: false }],
    ] as const;
    for (const [status, headers, receiverRequest] of cases) {
      receiver.answer = (response) => response.writeHead(status, { ...headers } as OutgoingHttpHeaders).end();
      assert.deepEqual(await send(named()), { status, error: 'status', receiverRequest });
    }
  });

  it('ends a try when the receiver does not answer in time', async () => {
    receiver.answer = () => undefined;
    assert.deepEqual(await newSender(undefined, { timeoutMs: 200 })(named()), {
      status: null,
      error: 'timeout',
      receiverRequest: null,
    });
  });

  it('fails when the receiver closes the connection, and when nothing listens', async () => {
    receiver.answer = (response) => response.destroy();
    const send = newSender();
    assert.deepEqual(await send(named()), { status: null, error: 'connection', receiverRequest: null });
    assert.deepEqual(await send('http://receiver.example:1/'), {
      status: null,
      error: 'connection',
      receiverRequest: null,
    });
  });

  it('does not wait for the end of an answer', async () => {
    let isClosed = false;
    receiver.answer = (response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.writeHead(200);
      const write = () => {
        if (!response.destroyed) response.write('x'.repeat(64 * 1024), () => setImmediate(write));
      };
      write();
    };
    assert.deepEqual(await newSender()(named()), { status: 200, error: null, receiverRequest: null });
    while (!isClosed) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('uses no proxy from the environment', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      http_proxy: 'http://127.0.0.1:1',
      HTTP_PROXY: 'http://127.0.0.1:1',
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      assert.deepEqual(await newSender()(named()), { status: 204, error: null, receiverRequest: null });
    } finally {
      for (const name of ['http_proxy', 'HTTP_PROXY', 'NODE_USE_ENV_PROXY']) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  });
});
