import * as E from 'fp-ts/lib/Either.js';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { type Failure, failure } from '#domain/failure.ts';
import { parseJsonObject } from '#http/json-text.ts';
import type { JsonObject } from '#src/json.ts';

/** A body's members, and its bytes for hashing. */
export interface JsonBody {
  readonly members: JsonObject;
  readonly bytes: Buffer;
}

/** The client went away before its body was complete: nobody is there to be answered. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

const noBytes = Buffer.alloc(0);
const empty: JsonBody = { members: {}, bytes: noBytes };

/**
 * Makes the reader of JSON bodies.
 * @param maxBytes the size of a body at most
 * @returns a function that reads a request's body once: its members (none without a body), or
 * unsupported-media-type, body-too-large or what is wrong with the JSON. Throws `ClientGone`.
 */
export function jsonBodyReader(maxBytes: number): (ctx: Context) => Promise<E.Either<Failure, JsonBody>> {
  const tooLarge = failure('body-too-large', `The body has more than ${maxBytes} bytes, the most that is taken.`);
  const readBytes = bytesReader(maxBytes);
  return async (ctx) => {
    if (!hasBody(ctx)) return E.right(empty);
    const refusal = mediaTypeRefusal(ctx);
    if (refusal !== null) return E.left(refusal);
    if (Number(ctx.req.headers['content-length'] ?? 0) > maxBytes) return E.left(tooLarge);
    if (ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
    const bytes = await readBytes(ctx);
    if (bytes === null) return E.left(tooLarge);
    if (bytes.length === 0) return E.right(empty);
    const parsed = parseJsonObject(bytes);
    return E.isLeft(parsed) ? parsed : E.right({ members: parsed.right, bytes });
  };
}

/** Whether a request says that it has a body. */
export function hasBody(ctx: Context): boolean {
  const { headers } = ctx.req;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Reads a body's bytes, whatever they are; null when there are too many. */
function bytesReader(maxBytes: number): (ctx: Context) => Promise<Buffer | null> {
  // With no encoding named, koa-body hands over the bytes themselves: text would hide what is not UTF-8.
  const middleware = koaBody({
    text: true,
    textTypes: ['*/*'],
    textLimit: maxBytes,
    encoding: '',
    json: false,
    urlencoded: false,
    multipart: false,
  });
  return async (ctx) => {
    try {
      await middleware(ctx, async () => undefined);
    } catch (error) {
      if (typeOf(error) === 'entity.too.large') return null;
      if (typeOf(error) === 'request.aborted' || ctx.req.destroyed) throw new ClientGone('The body ended early.');
      throw error;
    }
    const body: unknown = ctx.request.body;
    return Buffer.isBuffer(body) ? body : noBytes;
  };
}

function typeOf(error: unknown): unknown {
  return error instanceof Error && 'type' in error ? error.type : undefined;
}

const jsonType = /^application\/(?:json|[\w!#$&^.+-]+\+json)$|^[\w!#$&^.-]+\/[\w!#$&^.+-]+\+json$/i;
const utf8 = /^"?utf-?8"?$/i;

/** Why a body of this media type is not taken as JSON; null for one that is. */
export function mediaTypeRefusal(ctx: Context): Failure | null {
  const { headers } = ctx.req;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return failure('unsupported-media-type', 'The body must not be compressed: send it without Content-Encoding.');
  }
  if (headers['content-type'] === 'application/json') return null;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  if (!jsonType.test(type)) {
    return failure('unsupported-media-type', 'The body must be JSON: send it with Content-Type: application/json.');
  }
  const charset = parameters.find((parameter) => /^charset\s*=/i.test(parameter))?.replace(/^charset\s*=\s*/i, '');
  if (charset !== undefined && !utf8.test(charset)) {
    return failure('unsupported-media-type', 'The body must be UTF-8: send it with charset=utf-8, or without charset.');
  }
  return null;
}
