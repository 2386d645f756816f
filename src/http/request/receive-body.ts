import type { IncomingMessage } from 'node:http';
import type { ByteHold } from '#application/access/byte-budget.ts';
import { heldBytesOf } from '#application/bodies/body-failures.ts';
import type { Arrival, ArrivalLimits, TakePiece } from '#application/bodies/body-source.ts';
import { ClientDisconnectedError } from '#application/operations/client-disconnected-error.ts';

const heldToOwnLimits = new WeakSet<IncomingMessage>();

/** Whether a request's body has separate time limits. */
export function hasOwnArrivalLimits(req: IncomingMessage): boolean {
  return heldToOwnLimits.has(req);
}

/**
 * Receives a body piece by piece. The idle limit restarts with each piece. After an incomplete body the connection
 * must be closed after the answer, because the rest is not read.
 * @param hold counts the bytes that arrive; it may be evicted until the arrival ends
 * @throws ClientDisconnectedError, and what `take` rejects with; never before a promise of `take` has settled
 */
export function receiveBody(
  req: IncomingMessage,
  limits: ArrivalLimits,
  hold: ByteHold,
  take: TakePiece,
): Promise<Arrival> {
  // No event reports a client that has already left.
  if (req.destroyed) return Promise.reject(clientDisconnected());
  const receiver = new BodyReceiver(req, hold, take);
  if (!req.complete) receiver.limit(limits);
  return receiver.arrival;
}

/** Returns a body that has arrived completely with its headers, as small ones do; null for any other body. */
export function bufferedBody(req: IncomingMessage): Buffer | null {
  if (req.readableFlowing !== null || req.readableLength !== Number(req.headers['content-length'])) return null;
  const bytes: unknown = req.read();
  if (!Buffer.isBuffer(bytes)) return null;
  // Only the end of the body is missing.
  req.resume();
  return bytes;
}

class BodyReceiver {
  readonly arrival: Promise<Arrival>;
  readonly #resolve: (arrival: Arrival) => void;
  readonly #reject: (error: unknown) => void;
  readonly #req: IncomingMessage;
  readonly #hold: ByteHold;
  readonly #take: TakePiece;
  #idle: NodeJS.Timeout | null = null;
  #total: NodeJS.Timeout | null = null;
  /** The running call of `take`. */
  #taking: Promise<unknown> | null = null;
  #pieces = 0;
  #over = false;

  constructor(req: IncomingMessage, hold: ByteHold, take: TakePiece) {
    const { promise, resolve, reject } = Promise.withResolvers<Arrival>();
    this.arrival = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#req = req;
    this.#hold = hold;
    this.#take = take;
    hold.begin(() => this.#end({ arrival: 'evicted' }));
    req.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    // The close event that follows reports the cause.
    req.on('error', ignored);
  }

  /** A body that has already arrived needs no limits. */
  limit({ idleMs, totalMs }: ArrivalLimits): void {
    heldToOwnLimits.add(this.#req);
    this.#idle = setTimeout(() => this.#onIdle(), idleMs);
    this.#total = setTimeout(() => this.#end({ arrival: 'too-slow' }), totalMs);
  }

  readonly #onData = (piece: Buffer): void => {
    this.#pieces += 1;
    this.#idle?.refresh();
    const shortage = this.#hold.take(heldBytesOf(piece));
    if (shortage === null) this.#handOver(piece);
    else this.#end({ arrival: { shortage } });
  };

  readonly #onEnd = (): void => this.#end({ arrival: 'whole' });

  readonly #onClose = (): void => this.#end({ error: clientDisconnected() });

  #handOver(piece: Buffer): void {
    const more = this.#take(piece);
    if (typeof more !== 'boolean') void this.#holdBack(more);
    else if (!more) this.#end({ arrival: 'stopped' });
  }

  async #holdBack(more: Promise<boolean>): Promise<void> {
    this.#req.pause();
    this.#taking = more;
    try {
      const isMoreWanted = await more;
      this.#taking = null;
      this.#idle?.refresh();
      if (!isMoreWanted) this.#end({ arrival: 'stopped' });
      else if (!this.#over) this.#req.resume();
    } catch (error) {
      this.#end({ error });
    }
  }

  /** After a long turn of the event loop, timers fire before arrived data is read. This reads the data first. */
  #onIdle(): void {
    const pieces = this.#pieces;
    setImmediate(() => {
      if (this.#taking === null && this.#pieces === pieces) this.#end({ arrival: 'too-slow' });
    });
  }

  #end(how: { readonly arrival: Arrival } | { readonly error: unknown }): void {
    if (this.#over) return;
    this.#over = true;
    this.#hold.finish();
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#total !== null) clearTimeout(this.#total);
    this.#req.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    const settle = () => ('arrival' in how ? this.#resolve(how.arrival) : this.#reject(how.error));
    if (this.#taking === null) settle();
    else void this.#taking.then(settle, settle);
  }
}

function clientDisconnected(): ClientDisconnectedError {
  return new ClientDisconnectedError('The body ended early.');
}

function ignored(): void {}
