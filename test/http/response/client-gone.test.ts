import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from 'koa';
import { createRequestContext } from '#http/request/request-context.ts';
import { writeStream } from '#http/response/streamed-response.ts';
import { SlimKoa } from '#http/server/server.ts';

describe('an answer in pieces', () => {
  it('makes no piece for a client that has left before the first byte', async () => {
    let made = 0;
    const failures: unknown[] = [];
    const ended = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const app = new SlimKoa();
    app.use(async (ctx: Context) => {
      const exchange = createRequestContext(ctx);
      ctx.state = exchange;
      const closed = new Promise((resolve) => ctx.res.once('close', resolve));
      arrived.resolve();
      await closed;
      const chunks = (async function* () {
        made += 1;
        yield 'a';
      })();
      await writeStream(exchange, { contentType: 'text/csv', chunks }, (error) => failures.push(error));
      ended.resolve();
    });
    const server = createServer(app.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const leaving = new AbortController();
    const { port } = server.address() as AddressInfo;
    const answered = fetch(`http://127.0.0.1:${port}`, { signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await assert.rejects(answered);
    await ended.promise;
    await new Promise((resolve) => server.close(resolve));
    assert.deepEqual([made, failures], [0, []]);
  });
});
