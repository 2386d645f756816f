import * as E from 'fp-ts/lib/Either.js';
import type { RelayConnection } from '#application/operations/operation.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { arrivalFailure } from './arrival-failure.ts';
import { bodyShortageFailure, bodyTooLarge, heldBytesOf } from './body-failures.ts';
import type { ArrivalLimits } from './body-source.ts';
import { checkJsonMediaType } from './json-media-type.ts';

/** The limits of a JSON body of a streaming operation. */
export interface JsonBodyLimits {
  readonly maxBytes: number;
  readonly arrival: ArrivalLimits;
}

/**
 * Reads a complete JSON body and counts it in the hold. Does not check its syntax.
 * @returns no bytes without a body; unsupported-media-type, body-too-large, or why it did not arrive completely
 * @throws ClientDisconnectedError
 */
export async function readJsonBytes(
  { headers, body, bodyHold: hold }: Pick<RelayConnection, 'headers' | 'body' | 'bodyHold'>,
  { maxBytes, arrival: limits }: JsonBodyLimits,
): Promise<E.Either<Failure, Buffer>> {
  if (!body.isPresent) return E.right(Buffer.alloc(0));
  const refused = checkJsonMediaType(headers);
  if (refused !== null) return E.left(refused);
  if (body.announcedBytes > maxBytes) return E.left(bodyTooLarge(maxBytes));
  const shortage = hold.shortageOf(body.announcedBytes);
  if (shortage !== null) return E.left(bodyShortageFailure(shortage));
  const buffered = body.takeBuffered();
  if (buffered !== null) {
    const lacking = hold.take(heldBytesOf(buffered));
    return lacking === null ? E.right(buffered) : E.left(bodyShortageFailure(lacking));
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  const arrival = await body.receive(limits, hold, (piece) => {
    bytes += piece.length;
    pieces.push(piece);
    return bytes <= maxBytes;
  });
  const failed = arrivalFailure(arrival, maxBytes);
  if (failed !== null) return E.left(failed);
  return E.right(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, bytes));
}
