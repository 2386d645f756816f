import type { MessagePort } from 'node:worker_threads';
import { withTimeout } from '#shared/async/with-timeout.ts';
import type { PageMessage, SharedPage } from './page-port.ts';

/**
 * The longest wait for another thread, which may be busy or wait for the server itself. Then this thread reads the
 * page.
 */
const answerMs = 2_000;

/**
 * Requests pages from the reader in another thread, and answers its requests, so that two threads that read the same
 * part of the log read each page once. It only saves work: a page that the other thread does not have is read.
 */
export class PageExchange {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (page: SharedPage | null) => void>();
  #asked = 0;
  /** Whether the other thread has started and not ended. */
  #isReady = false;

  /** @param find returns the page after a position, if this thread has it or is reading it */
  constructor(port: MessagePort, find: (after: number) => Promise<SharedPage | null>) {
    this.#port = port;
    port.on('message', (message: PageMessage) => {
      this.#isReady = true;
      if (message.kind === 'ask') void this.#answer(message.number, find(message.after));
      else if (message.kind === 'answer') this.#waiting.get(message.number)?.(message.page);
    });
    port.on('close', () => this.#close());
    this.#post({ kind: 'ready' });
  }

  /**
   * Requests the page after a position.
   * @returns null if the other thread does not have the page, or does not answer in time
   */
  async ask(after: number): Promise<SharedPage | null> {
    if (!this.#isReady) return null;
    this.#asked += 1;
    const number = this.#asked;
    const answer = new Promise<SharedPage | null>((resolve) => this.#waiting.set(number, resolve));
    this.#post({ kind: 'ask', number, after });
    return withTimeout(answerMs, answer, null).finally(() => this.#waiting.delete(number));
  }

  async #answer(number: number, found: Promise<SharedPage | null>): Promise<void> {
    this.#post({ kind: 'answer', number, page: await found.catch(() => null) });
  }

  /** Sends a message. A message to a closed port is lost. */
  #post(message: PageMessage): void {
    this.#port.postMessage(message);
  }

  #close(): void {
    this.#isReady = false;
    for (const end of this.#waiting.values()) end(null);
  }
}
