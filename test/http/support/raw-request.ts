import { connect } from 'node:net';

/** The response on a raw connection. */
export interface RawAnswer {
  readonly text: string;
  /** Whether the server closed the connection, within the limit. */
  readonly closed: boolean;
}

const timeoutMs = 60_000;

/**
 * Sends bytes unchanged and collects the response until the server closes or `enough` is true.
 * @param parts sent in turn, with a pause between them
 */
export function rawRequest(
  port: number,
  parts: ReadonlyArray<string | Buffer>,
  enough: (text: string) => boolean = () => false,
  pauseMs = 20,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const waiting = [...parts];
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      clearTimeout(limit);
      socket.destroy();
      resolve({ text, closed });
    };
    const limit = setTimeout(() => reject(new Error(`No end after ${timeoutMs} ms: ${text}`)), timeoutMs);
    const send = () => {
      const part = waiting.shift();
      if (part === undefined || socket.destroyed) return;
      socket.write(part);
      timer = setTimeout(send, pauseMs);
    };
    socket.on('connect', send);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough(text)) finish(false);
    });
    // A reset after the response counts as a close, because only the response matters.
    socket.on('error', () => finish(true));
    socket.on('close', () => finish(true));
  });
}
