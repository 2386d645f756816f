import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { createRequestContext } from '#http/request/request-context.ts';
import { writeDownload } from '#http/response/download-response.ts';
import { SlimKoa } from '#http/server/server.ts';

const pieceBytes = 64 * 1024;
const pieces = 200;
const bytes = pieces * pieceBytes;

/** Serves a file. @param content its pieces, read when they are asked for */
async function serve(content: (res: ServerResponse) => AsyncIterable<Uint8Array>) {
  const app = new SlimKoa();
  app.use(async (ctx: Context) => {
    const exchange = createRequestContext(ctx);
    ctx.state = exchange;
    const open = async () => Readable.from(content(ctx.res), { objectMode: false, highWaterMark: 0 });
    const described = { contentType: 'text/plain', filename: 'a.txt', etag: 'a', bytes };
    await writeDownload(exchange, { kind: 'download', ...described, open });
  });
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const close = (server: Server) => new Promise((resolve) => server.close(resolve));

describe('writeDownload', () => {
  it('reads a piece of the file only when the socket has taken the one before', async () => {
    const waiting: number[] = [];
    const { url, server } = await serve(async function* (res) {
      for (let read = 0; read < pieces; read += 1) {
        waiting.push(res.writableLength);
        yield Buffer.alloc(pieceBytes, read);
      }
    });
    const response = await fetch(url);
    let received = 0;
    for await (const chunk of response.body ?? []) {
      received += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.deepEqual([response.status, received], [200, bytes]);
    assert.deepEqual([waiting.length, Math.max(...waiting)], [pieces, 0]);
    await close(server);
  });

  it('ends the reading of the file when the client leaves', async () => {
    const ended = Promise.withResolvers<void>();
    const { url, server } = await serve(async function* () {
      try {
        for (;;) yield Buffer.alloc(pieceBytes);
      } finally {
        ended.resolve();
      }
    });
    const response = await fetch(url);
    await response.body?.cancel();
    await ended.promise;
    await close(server);
  });

  it('closes the connection when the file breaks off, so that no client takes a part for the whole', async () => {
    const { url, server } = await serve(async function* () {
      yield Buffer.alloc(pieceBytes);
      throw new Error('the store is unavailable');
    });
    await assert.rejects(fetch(url).then((response) => response.arrayBuffer()));
    await close(server);
  });
});
