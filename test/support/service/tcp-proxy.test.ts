import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy.ts';

describe('TcpProxy', () => {
  it('keeps the order of bytes when a delay ends while earlier bytes are delayed', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const proxy = new TcpProxy(port);
    await proxy.listen();
    const url = new URL(proxy.through(`tcp://127.0.0.1:${port}`));
    const client = connect(Number(url.port), url.hostname);
    try {
      const [answering] = await accepted;
      let received = '';
      client.setEncoding('utf8').on('data', (text) => {
        received += text;
      });
      proxy.delay(300);
      answering.write('first ');
      // Wait until the proxy has read the first bytes.
      await new Promise((resolve) => setTimeout(resolve, 50));
      proxy.delay(0);
      answering.write('second');
      while (received.length < 'first second'.length) await once(client, 'data');
      assert.equal(received, 'first second');
    } finally {
      client.destroy();
      await proxy.close();
      server.close();
    }
  });
});
