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

/** Bytes that wait for one reader at most. */
const defaultMaxQueuedBytes = 1024 * 1024;

export interface FeedReaderOptions {
  readonly caller: Caller;
  readonly response: ResponseSink;
  /** Whether its key still works. Rejects where that cannot be found out. */
  readonly isKeyValid: () => Promise<boolean>;
  readonly maxQueuedBytes?: number;
}

/** One open feed: what waits to be written to its client, within a limit. */
export class FeedReader {
  readonly caller: Caller;
  readonly #options: FeedReaderOptions;
  readonly #ended = Promise.withResolvers<FeedEnd>();
  readonly #maxQueuedBytes: number;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #end: FeedEnd | null = null;
  #hasStarted = false;
  /** What is pushed waits for what is written first. */
  #isHeld = false;
  /** The client has not taken what was written. */
  #isFull = false;
  #isChecking = false;

  constructor(options: FeedReaderOptions) {
    this.#options = options;
    this.caller = options.caller;
    this.#maxQueuedBytes = options.maxQueuedBytes ?? defaultMaxQueuedBytes;
    options.response.onDisconnect(() => this.end('left'));
  }

  /** Why it ended, once it has. */
  get ended(): Promise<FeedEnd> {
    return this.#ended.promise;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Writes the head and what each feed opens with; a feed that has ended before says so at once. */
  start(): void {
    if (this.#end === 'left') return;
    this.#hasStarted = true;
    const { response } = this.#options;
    response.start(200, headers);
    response.write(opening);
    if (this.#end !== null) this.#writeEnding(this.#end);
  }

  /** Sends something when the client has room. A client that has too much waiting loses the feed. */
  push(bytes: Buffer): void {
    if (this.hasEnded) return;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#flush();
    if (this.#queuedBytes > this.#maxQueuedBytes) this.end('too slow');
  }

  /** Sends something before all that is pushed. Resolves when the client has taken it, or the feed has ended. */
  async write(bytes: Buffer): Promise<void> {
    if (this.hasEnded || this.#options.response.write(bytes)) return;
    const drained = Promise.withResolvers<void>();
    this.#options.response.onceDrained(drained.resolve);
    await Promise.race([drained.promise, this.ended]);
  }

  /** From now on what is pushed waits until `release`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#flush();
  }

  /** Ends the feed where its key does not work any more. While that cannot be found out, the feed stays open. */
  async checkKey(): Promise<void> {
    if (this.#isChecking || this.hasEnded) return;
    this.#isChecking = true;
    try {
      if (!(await this.#options.isKeyValid())) this.end('key not valid');
    } catch {
      // The key resolver remembers for how long an unknown answer counts as a good one, and says no after that.
    } finally {
      this.#isChecking = false;
    }
  }

  /** Ends the feed. What waits is lost: the client resumes after the last position that it has. */
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
