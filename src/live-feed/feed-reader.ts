import type { ResponseSink } from '#application/responses/response-sink.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import { ending, eventStreamType, opening } from './event-stream-message.ts';

/** Why a feed ended. */
export type FeedEnd = 'left' | 'too slow' | 'key not valid' | 'stopping' | 'unavailable';

const reasons: Readonly<Record<Exclude<FeedEnd, 'left'>, string>> = {
  'too slow': 'ended: it was read too slowly',
  'key not valid': 'ended: the API key is not valid any more',
  stopping: 'ended: this node stops',
  unavailable: 'ended: the log or its read models cannot be read just now',
};

const headers = ['Content-Type', eventStreamType, 'Cache-Control', 'no-store', 'X-Accel-Buffering', 'no'];

/** The most bytes that wait for one reader. */
const maxQueuedBytes = 1024 * 1024;

export interface FeedReaderOptions {
  readonly caller: Caller;
  readonly response: ResponseSink;
  /** Whether its key is still valid. Rejects if that is not known now. */
  readonly isKeyValid: () => Promise<boolean>;
}

/** One open feed, with a bounded number of bytes that wait for its client. */
export class FeedReader {
  readonly caller: Caller;
  readonly #options: FeedReaderOptions;
  readonly #ended = Promise.withResolvers<FeedEnd>();
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #end: FeedEnd | null = null;
  #hasStarted = false;
  /** Whether pushed messages wait for earlier ones. */
  #isHeld = false;
  /** Whether the client has not read everything yet. */
  #isFull = false;
  #isChecking = false;

  constructor(options: FeedReaderOptions) {
    this.#options = options;
    this.caller = options.caller;
    options.response.onDisconnect(() => this.end('left'));
  }

  /** Why the feed has ended; null while it is open. */
  get ended(): Promise<FeedEnd> {
    return this.#ended.promise;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Writes the head and the first message of each feed. A feed that has ended before says so at once. */
  start(): void {
    if (this.#end === 'left') return;
    this.#hasStarted = true;
    const { response } = this.#options;
    response.start(200, headers);
    response.write(opening);
    if (this.#end !== null) this.#writeEnding(this.#end);
  }

  /** Sends a message when the client can read it. If too much waits for a client, its feed ends. */
  push(bytes: Buffer): void {
    if (this.hasEnded) return;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#flush();
    if (this.#queuedBytes > maxQueuedBytes) this.end('too slow');
  }

  /** Sends a message before all pushed ones. Resolves when the client has read it, or when the feed has ended. */
  async write(bytes: Buffer): Promise<void> {
    if (this.hasEnded || this.#options.response.write(bytes)) return;
    const drained = Promise.withResolvers<void>();
    this.#options.response.onceDrained(drained.resolve);
    await Promise.race([drained.promise, this.ended]);
  }

  /** Makes pushed messages wait until `release`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#flush();
  }

  /** Ends the feed if its key is not valid any more. While that is not known, the feed stays open. */
  async checkKey(): Promise<void> {
    if (this.#isChecking || this.hasEnded) return;
    this.#isChecking = true;
    try {
      if (!(await this.#options.isKeyValid())) this.end('key not valid');
    } catch {
      // The key resolver limits the time for which an unknown state counts as valid.
    } finally {
      this.#isChecking = false;
    }
  }

  /** Ends the feed and drops waiting messages. The client resumes after its last position. */
  end(reason: FeedEnd): void {
    if (this.hasEnded) return;
    this.#end = reason;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#options.response.onDisconnect(null);
    if (this.#hasStarted && reason !== 'left') this.#writeEnding(reason);
    this.#ended.resolve(reason);
  }

  #writeEnding(reason: Exclude<FeedEnd, 'left'>): void {
    this.#options.response.write(ending(reasons[reason]));
    this.#options.response.end();
  }

  #flush(): void {
    while (!this.#isHeld && !this.#isFull) {
      const bytes = this.#queue.shift();
      if (bytes === undefined) return;
      this.#queuedBytes -= bytes.length;
      if (this.#options.response.write(bytes)) continue;
      this.#isFull = true;
      this.#options.response.onceDrained(() => {
        this.#isFull = false;
        this.#flush();
      });
    }
  }
}
