import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { HttpTransport } from '#gateway/transport/http-transport.ts';
import type { UpstreamRequest } from '#gateway/transport/transport.ts';
import { type Behaviour, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('HttpTransport with a body that is read from a file', () => {
  let provider: FakeProvider;
  let transport: HttpTransport;

  beforeEach(async () => {
    provider = await FakeProvider.start();
    transport = new HttpTransport(`http://127.0.0.1:${provider.port}`, 5_000, () => undefined);
  });
  afterEach(async () => {
    await transport.close();
    await provider.stop();
  });

  /**
   * Sends a request. Resolves with the status of its answer, or with the failure.
   * @param onSent called when a connection begins to carry the request
   */
  const send = (body: UpstreamRequest['body'], onSent: () => void = () => undefined): Promise<number | Error> => {
    const { promise, resolve } = Promise.withResolvers<number | Error>();
    let status = 0;
    transport.call(
      { path: '/', headers: ['content-type', 'text/plain'], body, streams: false },
      {
        onSent,
        onHeaders: (received) => {
          status = received;
        },
        onData: () => undefined,
        onEnd: () => resolve(status),
        onError: resolve,
      },
    );
    return promise;
  };

  /** Opens a connection and keeps it. */
  const keepConnection = async () => {
    assert.equal(await send(Buffer.from('first')), 200);
    // The pool uses it again from the next turn of the event loop on.
    await new Promise((resolve) => setTimeout(resolve, 20));
  };

  /** Answers, and closes the connection when the test says so. */
  const closingLater = (close: Promise<void>): Behaviour => {
    return (res, seen) => {
      const { socket } = res;
      json({})(res, seen);
      void close.then(() => socket?.destroy());
    };
  };

  it('sends it on another connection when the kept one closes before a byte of it was sent', async () => {
    const close = Promise.withResolvers<void>();
    provider.answers(closingLater(close.promise), json({}));
    await keepConnection();
    let opened = 0;
    const open = () => {
      opened += 1;
      if (opened > 1) return Readable.from([Buffer.from('second')]);
      // Its first bytes do not come while the connection is open.
      return new Readable({ read: () => undefined });
    };
    assert.equal(await send({ bytes: 6, open }, close.resolve), 200);
    assert.equal(opened, 2);
    assert.deepEqual(
      provider.seen.map(({ body }) => String(body)),
      ['first', 'second'],
    );
  });

  it('fails when the kept connection closes after some bytes of it were sent', async () => {
    const close = Promise.withResolvers<void>();
    provider.answers(closingLater(close.promise), json({}));
    await keepConnection();
    let opened = 0;
    const open = () => {
      opened += 1;
      const body = new Readable({ read: () => undefined });
      body.push('sec');
      return body;
    };
    const failing = send({ bytes: 6, open });
    await eventually(() => provider.begun === 2, 'the beginning of the request');
    close.resolve();
    assert.ok((await failing) instanceof Error);
    assert.equal(opened, 1);
  });

  it('fails when the body cannot be read', async () => {
    provider.answers(json({}));
    await keepConnection();
    let opened = 0;
    const open = () => {
      opened += 1;
      return new Readable({ read: () => undefined, construct: (done) => done(new Error('no disk')) });
    };
    assert.match(String(await send({ bytes: 6, open })), /no disk/);
    assert.equal(opened, 1);
  });
});
