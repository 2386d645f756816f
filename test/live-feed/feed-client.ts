import type { Client } from '#exchange/client.ts';

/** A message of a feed, as a client of server-sent events reads it. */
export interface FeedMessage {
  readonly id: number | null;
  readonly event: string | null;
  readonly data: Readonly<Record<string, unknown>> | null;
}

/** Reads whole messages, and skips comments. */
export function messagesIn(text: string): ReadonlyArray<FeedMessage> {
  const blocks = text.slice(0, text.lastIndexOf('\n\n') + 1).split('\n\n');
  return blocks.flatMap((block) => {
    const lines = block
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(':') && !line.startsWith('retry:'));
    if (lines.length === 0) return [];
    const fields = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(': ') + 2)]));
    const data = fields.get('data');
    return {
      id: fields.has('id') ? Number(fields.get('id')) : null,
      event: fields.get('event') ?? null,
      data: data === undefined ? null : JSON.parse(data),
    };
  });
}

/** A client of a feed, in memory. It reads immediately, unless it is `slow`. */
export class FeedClient implements Client {
  text = '';
  status = 0;
  hasEnded = false;
  isDisconnected = false;
  isSlow = false;
  #drained: () => void = () => undefined;
  #onDisconnect: (() => void) | null = null;
  readonly #waiters = new Set<() => void>();

  /** The received entries. */
  get entries(): ReadonlyArray<FeedMessage> {
    return messagesIn(this.text).filter(({ event }) => event !== null);
  }

  /** Waits until it has received a message that matches. */
  async waitFor(fits: (client: this) => boolean): Promise<void> {
    while (!fits(this)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiters.add(resolve);
      await promise;
      this.#waiters.delete(resolve);
    }
  }

  /** Reads what was written. */
  drain(): void {
    this.isSlow = false;
    this.#drained();
  }

  leave(): void {
    this.isDisconnected = true;
    this.#onDisconnect?.();
  }

  addHeaders = (): void => undefined;
  send = (): void => undefined;
  destroy = (): void => undefined;

  start = (status: number): void => {
    this.status = status;
    this.#changed();
  };

  write = (bytes: Buffer | string): boolean => {
    this.text += bytes.toString();
    this.#changed();
    return !this.isSlow;
  };

  end = (): void => {
    this.hasEnded = true;
    this.#changed();
  };

  onceDrained = (listener: () => void): void => {
    this.#drained = listener;
  };

  onDisconnect = (listener: (() => void) | null): void => {
    this.#onDisconnect = listener;
  };

  #changed(): void {
    for (const waiter of this.#waiters) waiter();
  }
}
