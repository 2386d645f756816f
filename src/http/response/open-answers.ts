import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { ByteBudget, ByteReservation } from '#exchange/byte-budget.ts';

/** How long a client may stop reading. */
const defaultMaxUnreadMs = 60_000;

/** How often open answers are checked while no client takes a byte. */
const checksWhileUnread = 60;

interface OpenAnswer {
  /** The reservation; null for an answer without a key. */
  readonly hold: ByteReservation | null;
  /** The bytes that its socket had taken when it last took some. */
  taken: number;
  /** When the socket last took some, or when nothing waited, by the monotonic clock in ms. */
  takenAt: number;
}

/**
 * Follows the answers whose bytes may wait for their clients. It counts these bytes, and ends an answer whose client
 * takes none for too long. Only bytes that the socket takes count as reading: neither bytes that the client sends nor
 * further bytes that are written. While nothing waits, as long as a provider or a store makes the answer, no time runs.
 */
export class OpenAnswers {
  readonly #budget: Pick<ByteBudget, 'hold'>;
  readonly #maxUnreadMs: number;
  readonly #open = new Map<ServerResponse, OpenAnswer>();
  /** One timer for all answers. It runs while there are answers. */
  #timer: NodeJS.Timeout | null = null;

  constructor(budget: Pick<ByteBudget, 'hold'>, maxUnreadMs = defaultMaxUnreadMs) {
    this.#budget = budget;
    this.#maxUnreadMs = maxUnreadMs;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Follows an answer, and counts its bytes until its socket has taken them or is closed.
   * @param projectId whose bytes they are; null to count none, because answers without a key are shared pages
   */
  follow(res: ServerResponse, projectId: string | null): void {
    if (this.#open.has(res)) return;
    const hold = projectId === null ? null : this.#budget.hold(projectId);
    this.#open.set(res, { hold, taken: bytesTakenBy(res.req.socket), takenAt: performance.now() });
    res.once('close', () => this.#forget(res));
    this.count(res);
    this.#timer ??= setInterval(() => this.#checkAll(), Math.ceil(this.#maxUnreadMs / checksWhileUnread)).unref();
  }

  /** Counts the bytes now. Otherwise they are counted with the next check. */
  count(res: ServerResponse): void {
    this.#open.get(res)?.hold?.resize(res.writableLength);
  }

  #checkAll(): void {
    const now = performance.now();
    for (const [res, answer] of this.#open) {
      // Node closes no response that waits behind another one of its connection.
      if (res.req.socket.destroyed) this.#forget(res);
      else this.#check(res, answer, now);
    }
  }

  #check(res: ServerResponse, answer: OpenAnswer, now: number): void {
    const { socket } = res.req;
    this.count(res);
    const taken = bytesTakenBy(socket);
    // Without a socket it waits for the response before it, which may wait for a provider.
    if (res.writableLength > 0 && res.socket !== null && taken === answer.taken) {
      if (now - answer.takenAt >= this.#maxUnreadMs) socket.destroy();
      return;
    }
    answer.taken = taken;
    answer.takenAt = now;
  }

  #forget(res: ServerResponse): void {
    this.#open.get(res)?.hold?.release();
    this.#open.delete(res);
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Node shows the bytes that the system has not taken only in this internal member. */
interface WithHandle {
  readonly _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/**
 * Whether this release of Node shows which bytes the system has taken. If it did not, a client that reads nothing would
 * keep its answer without a limit, and nothing would show it.
 * @param server one that listens, because its handle is of the same class as those of its connections
 */
export function showsTakenBytes(server: Pick<Server, 'listening'>): boolean {
  const { _handle: handle } = server as unknown as Partial<WithHandle>;
  return typeof handle?.bytesWritten === 'number' && typeof handle.writeQueueSize === 'number';
}

/** The bytes that the system has taken, in the middle of a write too. */
function bytesTakenBy(socket: Socket): number {
  const { _handle: handle } = socket as unknown as WithHandle;
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}
