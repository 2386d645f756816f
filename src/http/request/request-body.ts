import type { IncomingMessage } from 'node:http';
import * as E from 'fp-ts/lib/Either.js';
import type { Context, Middleware } from 'koa';
import type { ByteHold } from '#application/access/byte-budget.ts';
import { bodyEvicted, bodyShortageFailure, bodyTooLarge, heldBytesOf } from '#application/bodies/body-failures.ts';
import { parseJsonObject } from '#application/bodies/json-body.ts';
import { checkJsonMediaType } from '#application/bodies/json-media-type.ts';
import { ClientDisconnectedError } from '#application/operations/client-disconnected-error.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** The members of a body, and its bytes for hashing. */
export interface JsonBody {
  readonly members: JsonObject;
  readonly bytes: Buffer;
}

const noBytes = Buffer.alloc(0);
const empty: JsonBody = { members: {}, bytes: noBytes };

/**
 * Makes the reader of JSON bodies.
 * @param maxBytes the most bytes of a body
 * @param maxValues the most values in a body
 * @returns a function that reads a request's body once and counts it in the hold. It returns the members (none without
 *   a body), or unsupported-media-type, body-too-large, the lack of room, or the fault of the JSON. It throws
 *   `ClientDisconnectedError`.
 */
export function jsonBodyReader(
  maxBytes: number,
  maxValues: number,
): (ctx: Context, hold: ByteHold) => Promise<E.Either<Failure, JsonBody>> {
  const tooLarge = bodyTooLarge(maxBytes);
  const readBytes = bytesReader(maxBytes);
  return async (ctx, hold) => {
    if (!hasBody(ctx)) return E.right(empty);
    const refusal = checkJsonMediaType(ctx.req.headers);
    if (refusal !== null) return E.left(refusal);
    if (announcedBytesOf(ctx) > maxBytes) return E.left(tooLarge);
    const shortage = hold.shortageOf(announcedBytesOf(ctx));
    if (shortage !== null) return E.left(bodyShortageFailure(shortage));
    if (ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
    const read = await readBytes(ctx, hold);
    if (E.isLeft(read)) return read;
    const bytes = read.right;
    if (bytes.length === 0) return E.right(empty);
    const parsed = await parseJsonObject(bytes, maxValues);
    return E.isLeft(parsed) ? parsed : E.right({ members: parsed.right, bytes });
  };
}

/** Whether a request announces a body. */
export function hasBody(ctx: Context): boolean {
  const { headers } = ctx.req;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The bytes that a request announces for its body; 0 if it announces none. */
export function announcedBytesOf(ctx: Context): number {
  return Number(ctx.req.headers['content-length'] ?? 0);
}

/** Ends the reading of a body for which there is no room. */
class BodyRefusedError extends Error {
  override readonly name = 'BodyRefusedError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.failure = failure;
  }
}

/** Makes the reader of a body's bytes. */
function bytesReader(maxBytes: number): (ctx: Context, hold: ByteHold) => Promise<E.Either<Failure, Buffer>> {
  let middleware: Middleware | null = null;
  return async (ctx, hold) => {
    // This comes before the counting, because the counting makes the body flow.
    middleware ??= await loadKoaBody(maxBytes);
    const stopCounting = countArriving(ctx.req, hold);
    try {
      await middleware(ctx, async () => undefined);
    } catch (error) {
      if (error instanceof BodyRefusedError) return E.left(error.failure);
      if (typeOf(error) === 'entity.too.large') return E.left(bodyTooLarge(maxBytes));
      if (typeOf(error) === 'request.aborted' || ctx.req.destroyed)
        throw new ClientDisconnectedError('The body ended early.');
      throw error;
    } finally {
      stopCounting();
    }
    const body: unknown = ctx.request.body;
    return E.right(Buffer.isBuffer(body) ? body : noBytes);
  };
}

/** Loads koa-body with the first body. With it and its packages a start would take a twelfth longer. */
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

/**
 * Counts the bytes of a body while another listener reads it. Bytes without room end the reading, because koa-body
 * stops at any error of the stream and rejects with it.
 * @returns a function that ends the counting and keeps the count
 */
function countArriving(req: IncomingMessage, hold: ByteHold): () => void {
  const refuse = (refusal: Failure) => req.emit('error', new BodyRefusedError(refusal));
  const onData = (piece: Buffer) => {
    const shortage = hold.take(heldBytesOf(piece));
    if (shortage === null) return;
    req.off('data', onData);
    refuse(bodyShortageFailure(shortage));
  };
  hold.begin(() => refuse(bodyEvicted));
  req.on('data', onData);
  return () => {
    req.off('data', onData);
    hold.finish();
  };
}

function typeOf(error: unknown): unknown {
  return error instanceof Error && 'type' in error ? error.type : undefined;
}
