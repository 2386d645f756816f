import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from 'koa';
import { ClientDisconnectedError } from '#exchange/held.ts';
import { createRequestContext } from '#http/request/request-context.ts';
import { writeStream } from '#http/response/streamed-response.ts';
import { SlimKoa } from '#http/server/server.ts';

/** Serves one stream of text. @returns its address, and the error that broke it off */
async function serve(chunks: (ctx: Context) => AsyncIterable<string>) {
  const failures: unknown[] = [];
  const app = new SlimKoa();
  app.use(async (ctx: Context) => {
    const exchange = createRequestContext(ctx);
    ctx.state = exchange;
    await writeStream(exchange, { contentType: 'text/csv', chunks: chunks(ctx) }, (error) => failures.push(error));
  });
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, failures };
}

const close = (server: Server) => new Promise((resolve) => server.close(resolve));

describe('writeStream', () => {
  it('sends pieces as they are produced, with the media type', async () => {
    const { url, server } = await serve(async function* () {
      yield 'a,b\r\n';
      yield '1,2\r\n';
    });
    const response = await fetch(url);
    assert.deepEqual(
      [response.status, response.headers.get('content-type'), await response.text()],
      [200, 'text/csv', 'a,b\r\n1,2\r\n'],
    );
    await close(server);
  });

  it('breaks the response off when a piece cannot be produced, so that no client takes a part for the whole', async () => {
    const { url, server, failures } = await serve(async function* () {
      yield 'a,b\r\n';
      throw new Error('the store is unavailable');
    });
    await assert.rejects(fetch(url).then((response) => response.text()));
    assert.match(String(failures), /the store is unavailable/);
    await close(server);
  });

  it('produces a piece only when the socket has taken the one before', async () => {
    const waiting: number[] = [];
    const { url, server, failures } = await serve(async function* (ctx) {
      for (let made = 0; made < 100; made += 1) {
        waiting.push(ctx.res.writableLength);
        yield 'x'.repeat(100_000);
      }
    });
    const response = await fetch(url);
    let read = 0;
    for await (const bytes of response.body ?? []) {
      read += bytes.length;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.deepEqual([read, failures], [10_000_000, []]);
    assert.deepEqual([waiting.length, Math.max(...waiting)], [100, 0]);
    await close(server);
  });

  it('ends the source when the client leaves', async () => {
    const ended = Promise.withResolvers<void>();
    const { url, server, failures } = await serve(async function* () {
      try {
        for (;;) yield 'x'.repeat(64 * 1024);
      } finally {
        ended.resolve();
      }
    });
    const response = await fetch(url);
    await response.body?.cancel();
    await ended.promise;
    assert.deepEqual(failures, []);
    await close(server);
  });

  it('reports no failure when the work on a piece was given up because the client has left', async () => {
    const { url, server, failures } = await serve(async function* () {
      yield 'a,b\r\n';
      throw new ClientDisconnectedError('The client left before the work for it began.');
    });
    await assert.rejects(fetch(url).then((response) => response.text()));
    assert.deepEqual(failures, []);
    await close(server);
  });

  it('produces no more pieces than the client reads', async () => {
    let made = 0;
    const { url, server, failures } = await serve(async function* () {
      for (; made < 10_000; made += 1) yield 'x'.repeat(64 * 1024);
    });
    const response = await fetch(url);
    const reader = response.body?.getReader();
    await reader?.read();
    // Sockets and streams buffer a few MiB while the reader reads nothing.
    let before = -1;
    while (before !== made) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(made < 1_000, `${made} pieces were made for a reader that took one`);
    await reader?.cancel();
    await close(server);
    assert.deepEqual(failures, []);
  });
});
