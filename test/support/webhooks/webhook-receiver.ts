import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message that a receiver has received. */
export interface ReceivedMessage {
  /** The path of the URL. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a message. Default: 204. */
export type Answer = (response: ServerResponse, message: ReceivedMessage) => void;

/** A receiver of webhooks on a real socket. */
export class WebhookReceiver {
  readonly messages: ReceivedMessage[] = [];
  answer: Answer = (response) => response.writeHead(204).end();
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      try {
        for await (const part of request) parts.push(part);
      } catch {
        return;
      }
      const message = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      };
      this.messages.push(message);
      this.answer(response, message);
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The messages that arrived at a path, in order of arrival. */
  at(path: string): ReadonlyArray<ReceivedMessage> {
    return this.messages.filter((message) => message.path === path);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The parsed body of a message. */
export function entryOf({ body }: ReceivedMessage): {
  readonly type: string;
  readonly position: number;
  readonly resource: { readonly kind: string; readonly id: string };
} {
  return JSON.parse(body);
}
