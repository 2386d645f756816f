import * as E from 'fp-ts/lib/Either.js';
import { bodyEvicted, bodyShortageFailure, bodyTooLarge, heldBytesOf } from '#application/bodies/body-failures.ts';
import type { Arrival, ArrivalLimits } from '#application/bodies/body-source.ts';
import { checkJsonMediaType } from '#application/bodies/json-media-type.ts';
import { invalidInput } from '#application/operations/input-errors.ts';
import type { StreamingRequest } from '#application/operations/operation.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { CatalogueRefusal } from './config/catalogue.ts';
import { inputError } from './faults.ts';
import type { ConfigurationSnapshot, Gateway } from './gateway.ts';
import { gatewayErrorResponse } from './response/error-response.ts';
import { sendError } from './response/send-error.ts';

/** What a call's body may be. */
export interface GatewayLimits {
  /** Bytes of a JSON body at most. */
  readonly maxJsonBytes: number;
  /** Values in a JSON body at most. */
  readonly maxJsonValues: number;
  /** Bytes of an upload of audio at most. */
  readonly maxAudioBytes: number;
  readonly arrival: ArrivalLimits;
}

/** A call that passed the limits of its project. */
export interface GatewayCall extends StreamingRequest {
  readonly gateway: Gateway;
  readonly configuration: ConfigurationSnapshot;
}

/** Headers of every response of the gateway, names and values in turn. */
const always = ['Cache-Control', 'no-store'];

/**
 * Answers a request within the limits of its project: with what `answer` writes, or with the failure that it gives.
 * @throws ClientDisconnectedError when the client leaves before its request is complete
 */
export async function runCall(
  gateway: Gateway,
  request: StreamingRequest,
  answer: (call: GatewayCall) => Promise<Failure | null>,
): Promise<void> {
  const { limits } = gateway;
  const { headers, refusal: refused } = await limits.acquire(request.caller);
  const { response } = request;
  response.addHeaders([...always, ...headers]);
  if (refused !== null) return sendError(response, gatewayErrorResponse(refused));
  const configuration = gateway.acquireConfiguration();
  try {
    const failed = await answer({ ...request, gateway, configuration });
    if (failed !== null) sendError(response, gatewayErrorResponse(failed));
  } finally {
    gateway.releaseConfiguration(configuration);
    limits.release(request.caller);
  }
}

/** Reads a whole JSON body, counting it in the hold. @throws ClientDisconnectedError */
export async function readJsonBytes(
  { headers, body, bodyHold: hold }: Pick<GatewayCall, 'headers' | 'body' | 'bodyHold'>,
  { maxJsonBytes: maxBytes, arrival: limits }: GatewayLimits,
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

/** Why a body did not arrive whole; null for one that did. @param maxBytes that were wanted of it */
export function arrivalFailure(arrival: Arrival, maxBytes: number): Failure | null {
  if (typeof arrival === 'object') return bodyShortageFailure(arrival.shortage);
  switch (arrival) {
    case 'whole':
      return null;
    case 'stopped':
      return bodyTooLarge(maxBytes);
    case 'too-slow':
      return tooSlow;
    case 'evicted':
      return bodyEvicted;
  }
}

const tooSlow = failure(
  'body-too-slow',
  'The body stopped arriving, or took longer than an upload may. Send it again.',
);

/** The failure that a client receives where the catalogue has nothing for its call. */
export function catalogueFailure(refused: CatalogueRefusal): Failure {
  switch (refused.kind) {
    case 'unknown-model':
      return failure('model-not-found', `There is no model ${quoted(refused.model)} here: see GET /v1/models.`, {
        errors: [{ pointer: '/model', message: 'names no model' }],
      });
    case 'unknown-voice':
      return invalidInput([
        inputError(
          '/voice',
          `names no voice: there is no ${quoted(refused.voice)} here${others(refused.known)}`,
          refused.voice,
        ),
      ]);
    case 'cannot-speak': {
      const message = `cannot be spoken by the model ${quoted(refused.model)}`;
      return invalidInput([inputError('/voice', message, refused.voice)]);
    }
  }
}

const maxListedNames = 20;

function others(names: ReadonlyArray<string>): string {
  if (names.length === 0) return '';
  return `, but ${names.slice(0, maxListedNames).join(', ')}${names.length > maxListedNames ? ', …' : ''}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
