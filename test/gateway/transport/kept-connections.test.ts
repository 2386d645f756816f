import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { HttpTransport } from '#gateway/transport/http-transport.ts';
import type { ConnectionFault } from '#gateway/transport/provider-connection.ts';
import type { UpstreamRequest } from '#gateway/transport/transport.ts';
import { answerOf, echo, type RawBehaviour, RawProvider, raw } from '#test/gateway/support/raw-provider.ts';
import { eventually } from '#test/support/run/eventually.ts';

/** What a call got. */
interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly error: string | null;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('The kept connections of HttpTransport', () => {
  let provider: RawProvider;
  let transport: HttpTransport;
  let faults: ConnectionFault[];

  beforeEach(async () => {
    provider = await RawProvider.start();
    faults = [];
    transport = new HttpTransport(provider.origin, 5_000, (fault) => faults.push(fault));
  });
  afterEach(async () => {
    await provider.stop();
    await transport.close();
  });

  const send = (body: UpstreamRequest['body'] | string, method?: 'GET' | 'DELETE'): Promise<Outcome> => {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    let [status, text, ends] = [0, '', 0];
    const end = (error: string | null) => {
      ends += 1;
      assert.equal(ends, 1, 'A call ends once.');
      resolve({ status, text, error });
    };
    transport.call(
      {
        path: '/',
        headers: [],
        body: typeof body === 'string' ? Buffer.from(body) : body,
        streams: false,
        ...(method === undefined ? {} : { method }),
      },
      {
        onSent: () => undefined,
        onHeaders: (received) => {
          assert.equal(status, 0, 'A call has one answer.');
          status = received;
        },
        onData: (chunk) => {
          text += String(chunk);
        },
        onEnd: () => end(null),
        onError: (error) => end(error.message),
      },
    );
    return promise;
  };

  const served = (text: string): Outcome => ({ status: 200, text, error: null });
  const foreign = answerOf('foreign');

  /** Sends a second request, which must get its own answer from another connection. */
  const assertNotKept = async (fault: ConnectionFault) => {
    // The pool uses a connection again from the next turn of the event loop on.
    await pause(20);
    provider.answers(echo);
    assert.deepEqual(await send('mine'), served('mine'));
    assert.deepEqual(provider.seen.at(-1), { connection: 2, body: 'mine' });
    assert.deepEqual(faults, [fault]);
  };

  it('carry one request after the other', async () => {
    provider.answers(echo);
    for (const text of ['a', 'b', 'c']) {
      assert.deepEqual(await send(text), served(text));
      await pause(5);
    }
    assert.equal(provider.connections, 1);
    assert.deepEqual(faults, []);
  });

  const excesses = {
    'a second answer': foreign,
    'the beginning of an answer': 'HTTP/1.1 200 OK\r\ncontent-',
    'one byte': 'H',
    'what is no HTTP': '\0\u0001{}',
    'early hints': 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    '100 Continue': 'HTTP/1.1 100 Continue\r\n\r\n',
  };
  for (const [name, excess] of Object.entries(excesses)) {
    it(`are closed when ${name} follows the answer in the same write`, async () => {
      provider.answers(raw(answerOf('first') + excess));
      assert.deepEqual(await send('first'), served('first'));
      await assertNotKept('excess-bytes');
    });

    for (const afterMs of [1, 5, 100]) {
      it(`are closed when ${name} comes ${afterMs} ms after the answer`, async () => {
        provider.answers(({ socket }) => {
          socket.write(answerOf('first'));
          setTimeout(() => socket.write(excess), afterMs);
        });
        assert.deepEqual(await send('first'), served('first'));
        await eventually(() => provider.sockets.size === 0, 'the end of the connection');
        await assertNotKept('excess-bytes');
      });
    }
  }

  it('are closed when empty lines come after the answer', async () => {
    provider.answers(raw(answerOf('first')));
    assert.deepEqual(await send('first'), served('first'));
    const [socket] = provider.sockets;
    socket?.write('\r\n\r\n');
    await eventually(() => provider.sockets.size === 0, 'the end of the connection');
    await assertNotKept('excess-bytes');
  });

  it('give no bytes to a request that was begun in the turn in which they arrived', async () => {
    provider.answers(raw(answerOf('first')), echo);
    assert.deepEqual(await send('first'), served('first'));
    await pause(20);
    const [socket] = provider.sockets;
    await new Promise((resolve) => socket?.write(foreign, resolve));
    assert.deepEqual(await send('mine'), served('mine'));
    assert.deepEqual(faults, ['excess-bytes']);
  });

  it('are closed when a chunked answer is followed by more', async () => {
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n';
    provider.answers(raw(chunked + foreign));
    assert.deepEqual(await send('first'), served('first'));
    await assertNotKept('excess-bytes');
  });

  it('are kept after a chunked answer with trailers', async () => {
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\nx-sum: 1\r\n\r\n';
    provider.answers(raw(chunked), echo);
    assert.deepEqual(await send('first'), served('first'));
    await pause(5);
    assert.deepEqual(await send('second'), served('second'));
    assert.equal(provider.connections, 1);
    assert.deepEqual(faults, []);
  });

  it('are closed when the length is shorter than the answer', async () => {
    provider.answers(raw('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nfirst'));
    assert.deepEqual(await send('first'), served('fir'));
    await assertNotKept('excess-bytes');
  });

  it('end the call when the length is longer than the answer', async () => {
    provider.answers(({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfirst'), echo);
    const { text, error } = await send('first');
    assert.equal(text, 'first');
    assert.notEqual(error, null);
    assert.deepEqual(await send('mine'), served('mine'));
    assert.deepEqual(faults, []);
  });

  it('end the call when an answer has a length and is chunked, or two lengths', async () => {
    const heads = [
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nfirst',
    ];
    provider.answers(...heads.map((head) => raw(head)), echo);
    for (const _ of heads) assert.notEqual((await send('first')).error, null);
    assert.deepEqual(await send('mine'), served('mine'));
  });

  for (const status of ['204 No Content', '304 Not Modified']) {
    it(`are closed when ${status} has a body`, async () => {
      provider.answers(raw(`HTTP/1.1 ${status}\r\n\r\nfirst`));
      assert.equal((await send('', 'DELETE')).status, Number(status.slice(0, 3)));
      await assertNotKept('excess-bytes');
    });

    it(`are kept after ${status} without a body`, async () => {
      provider.answers(raw(`HTTP/1.1 ${status}\r\n\r\n`), echo);
      assert.deepEqual(await send('', 'DELETE'), { status: Number(status.slice(0, 3)), text: '', error: null });
      await pause(5);
      assert.deepEqual(await send('mine'), served('mine'));
      assert.equal(provider.connections, 1);
    });
  }

  it('pass over early hints before the answer', async () => {
    provider.answers(raw(excesses['early hints'], answerOf('first')), echo);
    assert.deepEqual(await send('first'), served('first'));
    await pause(5);
    assert.deepEqual(await send('second'), served('second'));
    assert.equal(provider.connections, 1);
    assert.deepEqual(faults, []);
  });

  it('end the call when 100 Continue comes, which no request asks for', async () => {
    provider.answers(raw(excesses['100 Continue'], answerOf('first')), echo);
    assert.notEqual((await send('first')).error, null);
    assert.deepEqual(await send('mine'), served('mine'));
  });

  /** A body of a file whose last bytes come when the test says so. */
  const lateBody = () => {
    const body = new Readable({ read: () => undefined });
    body.push('fir');
    return { body, bytes: 5, open: () => body };
  };

  const earlyAnswers: Record<string, RawBehaviour> = {
    complete: raw(answerOf('early')),
    'complete to its head': raw('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'),
    'begun by one byte': raw('H'),
  };
  for (const [name, answer] of Object.entries(earlyAnswers)) {
    it(`are closed when an answer is ${name} before the last byte of a file is sent`, async () => {
      const { body, ...stored } = lateBody();
      provider.onHead = (connection) => {
        answer(connection, Buffer.alloc(0));
        setTimeout(() => body.push('st').valueOf() && body.push(null), 20);
      };
      const rest = { complete: '', 'complete to its head': 'early', 'begun by one byte': answerOf('early').slice(1) };
      provider.answers(raw(rest[name as keyof typeof rest]));
      assert.deepEqual(await send(stored), served('early'));
      provider.onHead = () => undefined;
      await assertNotKept('early-answer');
    });
  }

  it('are closed when an answer comes before the last byte of a body in memory is sent', async () => {
    provider.onHead = ({ socket }) => {
      // The rest of the body waits on the other side.
      socket.pause();
      socket.write(answerOf('early'));
    };
    assert.deepEqual(await send(Buffer.alloc(16 * 1024 * 1024, 'a')), served('early'));
    provider.onHead = () => undefined;
    await assertNotKept('early-answer');
  });

  it('end the call when a served answer comes before its last byte is sent on a kept one', async () => {
    provider.answers(echo);
    await send('first');
    await pause(20);
    provider.onHead = ({ socket }) => {
      socket.pause();
      socket.write(foreign);
    };
    const { text, error } = await send(Buffer.alloc(16 * 1024 * 1024, 'a'));
    assert.deepEqual([text, error], ['', 'The answer began before the request was written']);
    provider.onHead = () => undefined;
    await assertNotKept('early-answer');
  });

  it('pass on a refusal that comes before the last byte is sent', async () => {
    provider.answers(echo);
    await send('first');
    await pause(20);
    const { body, ...stored } = lateBody();
    provider.onHead = ({ socket }) => socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
    assert.deepEqual(await send(stored), { status: 413, text: '', error: null });
    provider.onHead = () => undefined;
    assert.equal(body.destroyed, true);
    await assertNotKept('early-answer');
  });

  it('are kept when the answer comes after the last byte, even if the end of the file is noticed later', async () => {
    const body = new Readable({ read: () => undefined });
    body.push('first');
    provider.answers(raw('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'), echo);
    const sending = send({ bytes: 5, open: () => body });
    await eventually(() => provider.seen.length === 1, 'the request');
    await pause(5);
    body.push(null);
    await pause(5);
    for (const socket of provider.sockets) socket.write('first');
    assert.deepEqual(await sending, served('first'));
    await pause(5);
    assert.deepEqual(await send('second'), served('second'));
    assert.equal(provider.connections, 1);
    assert.deepEqual(faults, []);
  });

  it('lose no request and answer none twice while they close at any time', async () => {
    // Each connection is closed some time after an answer, so requests meet it open, closing and closed.
    provider.answers(({ socket }, body) => {
      socket.write(answerOf(String(body)));
      const afterMs = Number(String(body).split(' ')[1]) % 7;
      if (afterMs === 0) socket.end();
      else if (afterMs < 5) setTimeout(() => socket.end(), afterMs);
    });
    const texts = Array.from({ length: 300 }, (_, number) => `text ${number}`);
    let next = 0;
    const worker = async () => {
      for (let text = texts[next++]; text !== undefined; text = texts[next++]) {
        const outcome = await send(text);
        // A request that met a closing connection fails; it never gets another one's answer.
        if (outcome.error === null) assert.deepEqual(outcome, served(text));
        await pause(Number(text.slice(5)) % 4);
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    assert.equal(new Set(provider.seen.map(({ body }) => body)).size, provider.seen.length);
    assert.deepEqual(faults, []);
  });
});
