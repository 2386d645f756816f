import type { AuditEntry } from '#domain/history/record.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { Client } from '#exchange/client.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { clock, type Timer } from '#shared/clock.ts';

/** Server-sent events (HTML standard, section 9.2). */
export const eventStreamType = 'text/event-stream';

export type FeedEnd = 'left' | 'too slow' | 'key not valid' | 'stopping' | 'unavailable';

const reasons: Readonly<Record<Exclude<FeedEnd, 'left'>, string>> = {
  'too slow': 'ended: it was read too slowly',
  'key not valid': 'ended: the API key is not valid any more',
  stopping: 'ended: this node stops',
  unavailable: 'ended: the log or its read models cannot be read just now',
};

const headers = ['Content-Type', eventStreamType, 'Cache-Control', 'no-store', 'X-Accel-Buffering', 'no'];

/** Maximum bytes that may wait for one reader before more of them come. Readers that see the same events share them. */
const maxQueuedBytes = 1024 * 1024;
/** Maximum bytes that are written before the client has read them. */
const pieceBytes = 64 * 1024;
const maxUnreadMs = 30_000;

export interface FeedReaderOptions {
  readonly caller: Caller;
  readonly response: Client;
  /** Rejects if that is not known now. */
  readonly isKeyValid: () => Promise<boolean>;
  /** How long a client may stop reading. Default 30 s. */
  readonly maxUnreadMs?: number;
}

export class FeedReader {
  readonly caller: Caller;
  readonly #options: FeedReaderOptions;
  readonly #ended = Promise.withResolvers<FeedEnd>();
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #end: FeedEnd | null = null;
  #hasStarted = false;
  /** True while pushed messages wait for earlier ones. */
  #isHeld = false;
  /** Resolves when the client has read everything or the feed has ended; null while the client may be sent more. */
  #unread: PromiseWithResolvers<void> | null = null;
  #unreadTimer: Timer | undefined;
  #isChecking = false;

  constructor(options: FeedReaderOptions) {
    this.#options = options;
    this.caller = options.caller;
    options.response.onDisconnect(() => this.end('left'));
  }

  /** Resolves when the feed has ended, with the reason. */
  get ended(): Promise<FeedEnd> {
    return this.#ended.promise;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Writes the head and the first message of each feed. A feed that has ended before says so immediately. */
  start(): void {
    if (this.#end === 'left') return;
    this.#hasStarted = true;
    const { response } = this.#options;
    response.start(200, headers);
    response.write(opening);
    if (this.#end !== null) this.#writeEnding(this.#end);
  }

  /** Sends a message when the client can read it. The feed ends if too much waits for the client already. */
  push(bytes: Buffer): void {
    if (this.#queuedBytes > maxQueuedBytes) this.end('too slow');
    if (this.hasEnded) return;
    this.#queue.push(...piecesOf(bytes));
    this.#queuedBytes += bytes.length;
    this.#flush();
  }

  /** Sends messages before all pushed ones. Must be called only when the client has read everything. */
  sendFirst(bytes: Buffer): void {
    if (!this.hasEnded) this.#send(bytes);
  }

  /**
   * Waits until the client has read everything, or the feed has ended.
   * @param ms how long; by default until the feed ends
   * @returns false if the time is over
   */
  async whenRead(ms?: number): Promise<boolean> {
    const read = this.#unread?.promise.then(() => true);
    if (read === undefined) return true;
    return ms === undefined ? read : withTimeout(ms, read, false);
  }

  /** Shows that the feed is alive, before all pushed messages. A client that has not read everything gets nothing. */
  comment(): void {
    if (this.#hasStarted && !this.hasEnded && this.#unread === null) this.#send(comment);
  }

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

  /** Drops waiting messages. The client resumes after its last position. */
  end(reason: FeedEnd): void {
    if (this.hasEnded) return;
    this.#end = reason;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#options.response.onDisconnect(null);
    if (this.#hasStarted && reason !== 'left') this.#writeEnding(reason);
    this.#ended.resolve(reason);
    this.#read();
  }

  #writeEnding(reason: Exclude<FeedEnd, 'left'>): void {
    this.#options.response.write(ending(reasons[reason]));
    this.#options.response.end();
  }

  #flush(): void {
    while (!this.#isHeld && this.#unread === null) {
      const bytes = this.#queue.shift();
      if (bytes === undefined) return;
      this.#queuedBytes -= bytes.length;
      this.#send(bytes);
    }
  }

  /** Sends a piece. If the client is slower, nothing more is sent until it has read everything. */
  #send(piece: Buffer): void {
    const { response, maxUnreadMs: limitMs = maxUnreadMs } = this.#options;
    if (response.write(piece)) return;
    this.#unread = Promise.withResolvers();
    this.#unreadTimer = clock.setTimeout(() => this.end('too slow'), limitMs);
    response.onceDrained(() => {
      this.#read();
      this.#flush();
    });
  }

  #read(): void {
    clock.clearTimeout(this.#unreadTimer);
    this.#unread?.resolve();
    this.#unread = null;
  }
}

function piecesOf(bytes: Buffer): ReadonlyArray<Buffer> {
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += pieceBytes) pieces.push(bytes.subarray(from, from + pieceBytes));
  return pieces;
}

/** How long a client waits before it opens a broken feed again. */
const retryMs = 2_000;

/** What is sent first, so that the client knows immediately that the feed is open. */
export const opening = Buffer.from(`: live\nretry: ${retryMs}\n\n`);

/** The message of an entry. Its id is the position after which to resume. */
export function entryMessage(entry: AuditEntry): string {
  return `id: ${entry.position}\nevent: ${entry.type}\ndata: ${JSON.stringify(entry)}\n\n`;
}

/** A comment with the position up to which everything was sent. */
export function keepAlive(position: number): Buffer {
  return Buffer.from(`: keep-alive\nid: ${position}\n\n`);
}

/** Shows that the feed is alive while earlier entries are on their way. */
export const comment = Buffer.from(': keep-alive\n\n');

/** The last message. The reader resumes after its last id. */
export function ending(reason: string): Buffer {
  return Buffer.from(`: ${reason}\n\n`);
}
