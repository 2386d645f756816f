import type { Context } from 'koa';
import type { ByteHold } from '#application/access/byte-budget.ts';
import type { Arrival, ArrivalLimits, BodySource, TakePiece } from '#application/bodies/body-source.ts';
import { bufferedBody, receiveBody } from './receive-body.ts';
import { announcedBytesOf, hasBody } from './request-body.ts';

/** The body of an HTTP request, read from its connection. */
export class HttpBody implements BodySource {
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

  receive(limits: ArrivalLimits, hold: ByteHold, take: TakePiece): Promise<Arrival> {
    const { req, res } = this.#ctx;
    if (req.headers.expect !== undefined) res.writeContinue();
    return receiveBody(req, limits, hold, take);
  }
}
