import { RawConnection } from '#test/support/service/raw-connection.ts';

/** A client on a slow connection, with one request. */
export class SlowClient extends RawConnection {
  text = '';
  readonly #key: string;

  constructor(port: number, key: string) {
    super(port, (piece) => {
      this.text += piece.toString('latin1');
    });
    this.#key = key;
  }

  begin(path: string, contentType: string, bytes: number): void {
    const fields = [`Host: a`, `x-api-key: ${this.#key}`, `Content-Type: ${contentType}`, `Content-Length: ${bytes}`];
    this.socket.write(`POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  }

  /** Writes piece after piece. Resolves with the time of the last piece. */
  async writeSlowly(body: Buffer, milliseconds: number): Promise<number> {
    const pieces = 20;
    for (let index = 0; index < pieces; index += 1) {
      this.socket.write(body.subarray((body.length * index) / pieces, (body.length * (index + 1)) / pieces));
      if (index < pieces - 1) await new Promise((resolve) => setTimeout(resolve, milliseconds / (pieces - 1)));
    }
    return performance.now();
  }

  async answer(): Promise<{ readonly status: number; readonly json: unknown }> {
    while (!/\r\n\r\n.*}$/s.test(this.text)) await new Promise((resolve) => this.socket.once('data', resolve));
    const [head = '', body = ''] = this.text.split('\r\n\r\n');
    return { status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)), json: JSON.parse(body) };
  }
}

export const transcriptions = '/v1/audio/transcriptions';
export const multipart = 'multipart/form-data; boundary=b';

/** Returns the body of a transcription with this many bytes of audio. */
export function transcriptionOf(model: string, bytes: number): Buffer {
  return Buffer.from(
    [
      `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`,
      `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${'x'.repeat(bytes)}\r\n`,
      '--b--\r\n',
    ].join(''),
  );
}
