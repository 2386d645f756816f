import assert from 'node:assert/strict';
import { once } from 'node:events';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { HttpTransport } from '#gateway/transport/http-transport.ts';
import type { ConnectionFault } from '#gateway/transport/provider-connection.ts';
import type { UpstreamCall, UpstreamListener } from '#gateway/transport/transport.ts';
import { makeCertificate } from '#test/support/eventstoredb/certificate.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';

/** A provider in another thread, because it answers while this one is busy. `/early` is answered before its body. */
const provider = `
  const { createServer } = require('node:https');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer(workerData, (req, res) => {
    if (req.url === '/early') return res.end('early');
    req.resume();
    req.on('end', () => {
      if (req.url === '/refused') res.statusCode = 429;
      res.end('x'.repeat(100_000) + 'end');
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

const calls = 10;

describe('The answers over TLS', () => {
  const authorities = getCACertificates('default');
  let folder: ReturnType<typeof temporaryFolder>;
  let worker: Worker;
  let transport: HttpTransport;
  let faults: ConnectionFault[];

  before(async () => {
    folder = temporaryFolder();
    const { key, certificate } = makeCertificate(folder.path);
    setDefaultCACertificates([...authorities, String(certificate)]);
    worker = new Worker(provider, { eval: true, execArgv: [], workerData: { key, cert: certificate } });
    const [port] = await once(worker, 'message');
    transport = new HttpTransport(`https://127.0.0.1:${port}`, 5_000, (fault) => faults.push(fault));
  });
  beforeEach(() => {
    faults = [];
  });
  after(async () => {
    await transport.close();
    await worker.terminate();
    setDefaultCACertificates(authorities);
    folder.remove();
  });

  /** Sends a call whose answer arrives in the turn in which its last byte is sent. */
  const send = async (path = '/', bytes = 1_000, more: Partial<UpstreamListener> = {}): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const events: string[] = [];
    const end = (event: string) => resolve([...events, event].join(' '));
    let last = '';
    // The pool uses a connection again from the next turn on.
    await new Promise((next) => setTimeout(next, 2));
    setImmediate(() => {
      const call = transport.call(
        { path, headers: [], body: Buffer.alloc(bytes, 'a'), streams: false },
        {
          onSent: () => undefined,
          onHeaders: (status) => void events.push(String(status)),
          onData: (chunk) => {
            last = String(chunk).slice(-3);
          },
          onEnd: () => end(last),
          onError: (error) => end(error.message),
          ...more,
        },
      );
      running = call;
      // A turn that does not wait reads what has arrived meanwhile.
      setImmediate(() => undefined);
      const until = performance.now() + 5;
      while (performance.now() < until);
    });
    return promise;
  };
  let running: UpstreamCall | null = null;

  it('belong to their calls when they come as fast as the end of the request is noticed', async () => {
    for (let call = 0; call < calls; call += 1) assert.equal(await send(), '200 end');
    for (let call = 0; call < calls; call += 1) assert.equal(await send('/refused'), '429 end');
    assert.deepEqual(faults, []);
  });

  it('end their calls when the listener throws', async () => {
    for (let call = 0; call < calls; call += 1) {
      const onHeaders = () => {
        throw new Error('A fault of the listener');
      };
      assert.equal(await send('/', 1_000, { onHeaders }), 'A fault of the listener');
      assert.equal(await send(), '200 end');
    }
  });

  it('wait when the listener pauses at their heads', async () => {
    for (let call = 0; call < calls; call += 1) {
      let data = 0;
      const outcome = send('/', 1_000, {
        onHeaders: () => {
          running?.pause();
          setTimeout(() => {
            assert.equal(data, 0, 'No data come meanwhile.');
            running?.resume();
          }, 5);
        },
        onData: () => {
          data += 1;
        },
      });
      await outcome;
      assert.notEqual(data, 0);
    }
  });

  it('are those of other calls when they begin long before the last byte is sent', async () => {
    assert.equal(await send(), '200 end');
    assert.equal(await send('/early', 16 * 1024 * 1024), 'The answer began before the request was written');
    assert.deepEqual(faults, ['early-answer']);
  });
});
