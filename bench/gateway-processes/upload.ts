import { request } from 'node:http';
import { Readable } from 'node:stream';

const boundary = 'a-boundary-of-the-benchmark';

/**
 * Uploads audio for a transcription piece by piece, so that this process never holds the whole audio.
 * @throws Error when the audio is not transcribed
 */
export async function upload(url: string, headers: Readonly<Record<string, string>>, bytes: number): Promise<void> {
  const before =
    `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nbench-model\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="call.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  const after = `\r\n--${boundary}--\r\n`;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const req = request(
    `${url}/v1/audio/transcriptions`,
    {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    },
    (res) => {
      let text = '';
      res.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      res.once('end', () => {
        if (res.statusCode === 200 && text.includes(' bytes')) resolve();
        else reject(new Error(`${res.statusCode}: ${text}`));
      });
    },
  );
  req.once('error', reject);
  Readable.from(parts(before, bytes, after)).pipe(req);
  await promise;
}

function* parts(before: string, bytes: number, after: string): Generator<Buffer> {
  yield Buffer.from(before);
  const piece = Buffer.alloc(64 * 1_024, 0x55);
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left);
  yield Buffer.from(after);
}
