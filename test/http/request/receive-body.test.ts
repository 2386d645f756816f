import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrivalLimits, TakePiece } from '#exchange/body.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import { receiveBody } from '#http/request/request-body.ts';

const budget = new ByteBudget({ maxBytesPerProject: 100_000, maxBytes: 100_000 });
const hold = () => budget.hold('cproject01');
const patient: ArrivalLimits = { idleMs: 20_000, totalMs: 20_000 };

describe('receiveBody', () => {
  let stop: () => Promise<void> = async () => undefined;
  afterEach(() => stop());

  /** Starts a request that announces `bytes` bytes, and returns it with the client that sends them. */
  async function beginRequest(bytes: number, first = ''): Promise<{ req: IncomingMessage; client: Socket }> {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const server = createServer(resolve);
    await new Promise<void>((listening) => {
      server.listen(0, '127.0.0.1', listening);
    });
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n${first}`);
    stop = async () => {
      client.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    };
    return { req: await promise, client };
  }

  /** A receiver that accepts and keeps every piece. */
  function keeping(): { readonly take: TakePiece; readonly text: () => string } {
    const pieces: Buffer[] = [];
    const take = (piece: Buffer) => pieces.push(piece) > 0;
    return { take, text: () => Buffer.concat(pieces).toString() };
  }

  it('passes on the bytes that came with the headers and those that came later', async () => {
    const { req, client } = await beginRequest(10, 'with ');
    const { take, text } = keeping();
    const arrival = receiveBody(req, patient, hold(), take);
    client.write('later');
    assert.equal(await arrival, 'whole');
    assert.equal(text(), 'with later');
  });

  it('stops when the receiver has enough', async () => {
    const { req } = await beginRequest(10, 'four');
    assert.equal(await receiveBody(req, patient, hold(), () => false), 'stopped');
    assert.equal(await receiveBody(req, { ...patient, idleMs: 20 }, hold(), async () => false), 'too-slow');
  });

  it('ends when no bytes arrive within the idle limit', async () => {
    const { req } = await beginRequest(10, 'four');
    const { take, text } = keeping();
    assert.equal(await receiveBody(req, { ...patient, idleMs: 50 }, hold(), take), 'too-slow');
    assert.equal(text(), 'four');
  });

  it('ends at the total time limit, however the bytes arrive', async () => {
    const { req, client } = await beginRequest(1_000_000);
    const trickle = setInterval(() => client.write('x'), 5);
    const { take, text } = keeping();
    assert.equal(await receiveBody(req, { ...patient, totalMs: 200 }, hold(), take), 'too-slow');
    clearInterval(trickle);
    assert.match(text(), /^x+$/);
  });

  it('waits without a time limit until the receiver has taken a piece before it passes on the next', async () => {
    const { req, client } = await beginRequest(10, 'first');
    let taking = 0;
    let most = 0;
    const texts: string[] = [];
    const arrival = receiveBody(req, { ...patient, idleMs: 100 }, hold(), async (piece) => {
      taking += 1;
      most = Math.max(most, taking);
      if (texts.push(piece.toString()) === 1) {
        client.write('later');
        await sleep(400);
      }
      taking -= 1;
      return true;
    });
    assert.equal(await arrival, 'whole');
    assert.equal(texts.join(''), 'firstlater');
    assert.equal(most, 1);
  });

  it('rejects when the receiver fails to take a piece', async () => {
    const { req } = await beginRequest(10, 'four');
    await assert.rejects(
      receiveBody(req, patient, hold(), async () => {
        throw new Error('disk full');
      }),
      /disk full/,
    );
  });

  it('rejects when the client disconnects, but not while a piece is being taken', async () => {
    const { req, client } = await beginRequest(10, 'four');
    const gate = Promise.withResolvers<boolean>();
    const closed = new Promise((resolve) => req.once('close', resolve));
    let isOver = false;
    const arrival = receiveBody(req, patient, hold(), () => {
      client.destroy();
      return gate.promise;
    }).finally(() => {
      isOver = true;
    });
    arrival.catch(() => undefined);
    await closed;
    await sleep(10);
    assert.equal(isOver, false);
    gate.resolve(true);
    await assert.rejects(arrival, ClientDisconnectedError);
    await assert.rejects(receiveBody(req, patient, hold(), keeping().take), ClientDisconnectedError);
  });
});
