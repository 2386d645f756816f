import { RawConnection } from '#test/support/service/raw-connection.ts';

/** A request of `UnreadClient`. */
interface AskedRequest {
  readonly path: string;
  /** Default `GET`. */
  readonly method?: string;
  readonly fields?: ReadonlyArray<string>;
}

/** A client that reads only when the test wants it. */
export class UnreadClient extends RawConnection {
  /** The bytes that were read. */
  bytes = 0;
  /** The first bytes that were read, as text. */
  head = '';
  readonly #key: string;

  constructor(port: number, key: string) {
    super(port, (piece) => {
      this.bytes += piece.length;
      if (this.head.length < 4_096) this.head += piece.toString('latin1').slice(0, 4_096);
    });
    this.#key = key;
    this.socket.pause();
  }

  /** Sends requests without a body, together. */
  ask(...requests: ReadonlyArray<string | AskedRequest>): void {
    this.socket.write(requests.map((request) => this.#textOf(request)).join(''));
  }

  /** Sends a request with JSON. */
  post(path: string, body: object): void {
    const text = JSON.stringify(body);
    const fields = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`];
    this.socket.write(`${this.#textOf({ path, method: 'POST', fields })}${text}`);
  }

  /** Reads whatever comes from now on. */
  read(): void {
    this.socket.resume();
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.socket.pause();
  }

  #textOf(request: string | AskedRequest): string {
    const { path, method = 'GET', fields = [] } = typeof request === 'string' ? { path: request } : request;
    return [`${method} ${path} HTTP/1.1`, 'Host: a', `x-api-key: ${this.#key}`, ...fields, '\r\n'].join('\r\n');
  }
}
