import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminKey } from '#bench/http-processes/processes.ts';
import type { AbuseScenario } from './scenario.ts';

const mebibyte = 1024 * 1024;
const uploadBytes = 62 * mebibyte;
const heldMs = 1_000;

/** One upload of audio without its end, as large as a small disk. */
const unfinishedUpload: AbuseScenario = {
  title: 'one unfinished upload of 62 MiB',
  maxFreezeMs: 500,
  maxBytesAboveIdle: 100 * mebibyte,
  attack: async ({ url }) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    const fields = [
      'Host: a',
      `Authorization: Bearer ${adminKey}`,
      'Content-Type: multipart/form-data; boundary=b',
      `Content-Length: ${uploadBytes}`,
    ];
    socket.write(`POST /v1/audio/transcriptions HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
    socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    const sent = Promise.withResolvers<void>();
    socket.write(Buffer.alloc(uploadBytes - mebibyte, 'x'), () => sent.resolve());
    await Promise.race([sent.promise, once(socket, 'close')]);
    await sleep(heldMs);
    socket.destroy();
    return undefined;
  },
};

export default unfinishedUpload;
