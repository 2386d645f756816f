import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AbuseScenario } from './scenario.ts';
import { beginRequest } from './unfinished-request.ts';

const mebibyte = 1024 * 1024;
const uploadBytes = 62 * mebibyte;
const heldMs = 1_000;

/** One upload of audio without its end, as large as a small disk. */
const unfinishedUpload: AbuseScenario = {
  title: 'one unfinished upload of 62 MiB',
  maxFreezeMs: 500,
  maxBytesAboveIdle: 100 * mebibyte,
  attack: async ({ url }) => {
    const socket = await beginRequest({
      url,
      path: '/v1/audio/transcriptions',
      contentType: 'multipart/form-data; boundary=b',
      contentLength: uploadBytes,
    });
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
