import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import * as E from 'fp-ts/lib/Either.js';
import type { Context, Middleware } from 'koa';
import type { Failure } from '#domain/shared/failure.ts';
import { type Arrival, type ArrivalLimits, type BodyBytes, heldBytesOf, type TakePiece } from '#exchange/body.ts';
import type { ByteReservation } from '#exchange/byte-budget.ts';
import { ClientDisconnectedError, type Held } from '#exchange/held.ts';
import { parseJsonObject, readJsonBytes } from '#exchange/json-body.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { ArrivingBodies, ArrivingBody } from './arriving-bodies.ts';
import { arrivingBodiesBeside } from './connections.ts';

export interface JsonBody {
  readonly members: JsonObject;
  readonly bytes: Buffer;
}

const noBytes = Buffer.alloc(0);
const empty: JsonBody = { members: {}, bytes: noBytes };

/**
 * The reader reads a request's body once and counts it in the reservation. It returns the members (none without a
 * body), or unsupported-media-type, body-too-large, the lack of room, or the fault of the JSON. It throws
 * `ClientDisconnectedError`.
 */
export function jsonBodyReader(
  maxBytes: number,
  maxValues: number,
): (ctx: Context, held: Held) => Promise<E.Either<Failure, JsonBody>> {
  let koaBody: Promise<Middleware> | null = null;
  const load = () => {
    koaBody ??= loadKoaBody(maxBytes);
    return koaBody;
  };
  return async (ctx, held) => {
    if (!hasBody(ctx)) return E.right(empty);
    const request = { headers: ctx.req.headers, body: new KoaBody(ctx, load), held };
    const read = await readJsonBytes(request, { maxBytes, arrival: serverLimits });
    if (E.isLeft(read)) return read;
    const bytes = read.right;
    if (bytes.length === 0) return E.right(empty);
    const parsed = await parseJsonObject(bytes, maxValues);
    return E.isLeft(parsed) ? parsed : E.right({ members: parsed.right, bytes });
  };
}

export function hasBody(ctx: Context): boolean {
  const { headers } = ctx.req;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The announced size; 0 if the request announces none. */
function announcedBytesOf(ctx: Context): number {
  return Number(ctx.req.headers['content-length'] ?? 0);
}

/** The server's limit of a whole request is the only one of these bodies. */
const serverLimits: ArrivalLimits = { idleMs: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY };

/** koa-body is loaded with the first body that arrives in parts. With it and its packages a start would take longer. */
async function loadKoaBody(maxBytes: number): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  // Without an encoding, koa-body returns the bytes. A text would hide bytes that are not UTF-8.
  return koaBody({
    text: true,
    textTypes: ['*/*'],
    textLimit: maxBytes,
    encoding: '',
    json: false,
    urlencoded: false,
    multipart: false,
  });
}

export class ConnectionBody implements BodyBytes {
  readonly #ctx: Context;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  get isPresent(): boolean {
    return hasBody(this.#ctx);
  }

  get announcedBytes(): number {
    return announcedBytesOf(this.#ctx);
  }

  takeBuffered(): Buffer | null {
    return bufferedBody(this.#ctx.req);
  }

  receive(limits: ArrivalLimits, reservation: ByteReservation, take: TakePiece): Promise<Arrival> {
    const { req, res } = this.#ctx;
    if (req.headers.expect !== undefined) res.writeContinue();
    return receiveBody(req, limits, reservation, take);
  }
}

/** A small body. koa-body receives it if it has not arrived with its headers. */
class KoaBody extends ConnectionBody {
  readonly #ctx: Context;
  readonly #load: () => Promise<Middleware>;

  constructor(ctx: Context, load: () => Promise<Middleware>) {
    super(ctx);
    this.#ctx = ctx;
    this.#load = load;
  }

  override async receive(_: ArrivalLimits, reservation: ByteReservation, take: TakePiece): Promise<Arrival> {
    const { req, res } = this.#ctx;
    if (req.headers.expect !== undefined) res.writeContinue();
    const receive = await this.#load();
    const counted = countPieces(req, reservation);
    try {
      await receive(Object.create(this.#ctx, { req: { value: counted } }) as Context, async () => undefined);
    } catch (error) {
      if (error instanceof ArrivalEndedError) return error.arrival;
      if (error instanceof Error && 'type' in error && error.type === 'entity.too.large') return 'stopped';
      throw error;
    } finally {
      req.unpipe(counted);
      counted.destroy();
      reservation.finish();
    }
    const body: unknown = this.#ctx.request.body;
    return !Buffer.isBuffer(body) || (await take(body)) ? 'whole' : 'stopped';
  }
}

class ArrivalEndedError extends Error {
  override readonly name = 'ArrivalEndedError';
  readonly arrival: Arrival;

  constructor(arrival: Arrival) {
    super('The body ended early.');
    this.arrival = arrival;
  }
}

/** Counts pieces while the reservation has room for them. */
function countPieces(req: IncomingMessage, hold: ByteReservation): Transform {
  const counted = new Transform({
    transform: (piece: Buffer, _, done) => {
      const shortage = hold.take(heldBytesOf(piece));
      done(shortage === null ? null : new ArrivalEndedError({ shortage }), piece);
    },
  });
  // koa-body stops listening when it has failed.
  counted.on('error', ignored);
  const leave = () => counted.destroy(clientDisconnected());
  const end = (how: Arrival) => counted.destroy(new ArrivalEndedError(how));
  hold.begin(() => end('evicted'));
  const bodies = arrivingBodiesBeside(req);
  const arriving = bodies?.begin(hold.projectId, req, end) ?? null;
  req.once('close', leave);
  counted.once('close', () => {
    req.off('close', leave);
    if (arriving !== null) bodies?.finish(arriving);
  });
  if (req.destroyed) leave();
  // koa-body looks for an encoding and a length, which are already checked.
  return Object.assign(req.pipe(counted), { headers: {} });
}

const heldToOwnLimits = new WeakSet<IncomingMessage>();

/** True if the limits are separate from the server's limit of a whole request. */
export function hasOwnArrivalLimits(req: IncomingMessage): boolean {
  return heldToOwnLimits.has(req);
}

/**
 * The idle limit restarts with each piece. After an incomplete body the connection must be closed after the answer,
 * because the rest is not read.
 * @param hold counts the bytes that arrive; it may be evicted until the arrival ends
 * @throws ClientDisconnectedError, and what `take` rejects with; never before a promise of `take` has settled
 */
export function receiveBody(
  req: IncomingMessage,
  limits: ArrivalLimits,
  hold: ByteReservation,
  take: TakePiece,
): Promise<Arrival> {
  // No event reports a client that has already left.
  if (req.destroyed) return Promise.reject(clientDisconnected());
  const receiver = new BodyReceiver(req, hold, take);
  if (!req.complete) receiver.limit(limits);
  return receiver.arrival;
}

/** A body that has arrived completely with its headers, as small ones do; null for any other body. */
function bufferedBody(req: IncomingMessage): Buffer | null {
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
  readonly #hold: ByteReservation;
  readonly #take: TakePiece;
  readonly #bodies: ArrivingBodies | null;
  readonly #arriving: ArrivingBody | null;
  #idle: NodeJS.Timeout | null = null;
  #total: NodeJS.Timeout | null = null;
  /** The running call of `take`. */
  #taking: Promise<unknown> | null = null;
  #pieces = 0;
  #over = false;

  constructor(req: IncomingMessage, hold: ByteReservation, take: TakePiece) {
    const { promise, resolve, reject } = Promise.withResolvers<Arrival>();
    this.arrival = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#req = req;
    this.#hold = hold;
    this.#take = take;
    hold.begin(() => this.#end({ arrival: 'evicted' }));
    this.#bodies = req.complete ? null : arrivingBodiesBeside(req);
    this.#arriving = this.#bodies?.begin(hold.projectId, req, (how) => this.#end({ arrival: how })) ?? null;
    req.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    // The close event that follows reports the cause.
    req.on('error', ignored);
  }

  /** Sets the limits. A body that has already arrived needs none. */
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
    if (this.#arriving !== null) this.#bodies?.finish(this.#arriving);
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
