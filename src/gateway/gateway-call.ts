import * as E from 'fp-ts/lib/Either.js';
import type { StreamReport } from '#application/operations/operation.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { ArrivalLimits } from '#exchange/body.ts';
import type { ErrorForm } from '#exchange/error-form.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { Authorised } from '#exchange/request.ts';
import type { ConfigurationSnapshot } from '#gateway/config/configuration-snapshot.ts';
import { inputError } from '#gateway/framing/json-members.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import type { CatalogueRefusal } from './config/catalogue.ts';
import type { Gateway } from './gateway.ts';
import { gatewayErrorResponse, sendError } from './response/error-response.ts';

export interface GatewayLimits {
  readonly maxJsonBytes: number;
  readonly maxJsonValues: number;
  readonly maxAudioBytes: number;
  readonly arrival: ArrivalLimits;
}

export interface GatewayCall extends Authorised {
  readonly gateway: Gateway;
  readonly configuration: ConfigurationSnapshot;
  readonly limits: GatewayLimits;
  readonly errors: ErrorForm;
  /** The id of the batch; null for a client's call. */
  readonly batchId: string | null;
}

export interface RelayedInput {
  readonly isStreamed: boolean;
  /** The number of characters of the text to speak; missing in other calls. */
  readonly characters?: number;
  /** Closes what is open; missing if nothing is. */
  readonly close?: () => Promise<void>;
}

export interface RelayedCall<Input extends RelayedInput = RelayedInput> extends GatewayCall {
  readonly recordedAs: CallRecord['operation'];
  /**
   * Whether a provider sends nothing before it has made the answer, which may take minutes: a whole text or transcript.
   * An embedding and a count of tokens are quick, and speech comes in pieces.
   */
  readonly isMadeInSilence: boolean;
  readonly input: Input;
}

/**
 * The outcome of a call whose answer was written, or the reason why it was not relayed, with nothing written so far.
 */
export type CallResult = E.Either<Failure, StreamReport>;

export const answeredHere: CallResult = E.right(reportOf(null));

/** Headers of every response, as alternating names and values. */
const always = ['Cache-Control', 'no-store'];

/**
 * Runs a call within the limits of the project: `answer` writes the response or returns a failure.
 * @param errors the form of errors of the client's protocol
 * @throws ClientDisconnectedError when the client leaves before its request is complete
 */
export async function runCall(
  gateway: Gateway,
  bounds: GatewayLimits,
  request: Authorised,
  answer: (call: GatewayCall) => Promise<CallResult>,
  errors: ErrorForm,
): Promise<StreamReport> {
  const { limits } = gateway;
  const admission = limits.acquire(request.caller);
  const { headers, refusal: refused } = admission instanceof Promise ? await admission : admission;
  const { requestIdHeader: name } = errors;
  request.client.addHeaders([...always, ...(name === null ? [] : [name, request.id]), ...headers]);
  if (refused !== null) return sendFailure(request, refused, errors);
  request.held.add(() => limits.release(request.caller));
  const configuration = gateway.acquireConfiguration();
  request.held.add(() => gateway.releaseConfiguration(configuration));
  const result = await answer({ ...request, gateway, limits: bounds, configuration, errors, batchId: null });
  return E.isLeft(result) ? sendFailure(request, result.left, errors) : result.right;
}

function sendFailure({ client, id }: Authorised, failed: Failure, errors: ErrorForm): StreamReport {
  const error = gatewayErrorResponse(failed, { errors, id });
  sendError(client, error);
  return reportOf(error.code);
}

function reportOf(code: string | null): StreamReport {
  return { kind: 'relayed', status: null, code, model: null, target: null, attempts: 0 };
}

export function catalogueFailure(refused: CatalogueRefusal): Failure {
  switch (refused.kind) {
    case 'unknown-model':
      return failure('model-not-found', `There is no model ${quoted(refused.model)} here: see GET /v1/models.`, {
        errors: [{ pointer: '/model', message: 'must be the name of a model' }],
      });
    case 'cannot-chat': {
      const message = `names ${quoted(refused.model)}, which does not chat: it only speaks or transcribes${chatting(refused.known)}`;
      return invalidInput([inputError('/model', message, refused.model)]);
    }
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

function chatting(names: ReadonlyArray<string>): string {
  return names.length === 0 ? '' : `. These chat: ${shortList(names)}`;
}

function others(names: ReadonlyArray<string>): string {
  if (names.length === 0) return '';
  return `, but ${shortList(names)}`;
}

function shortList(names: ReadonlyArray<string>): string {
  return `${names.slice(0, maxListedNames).join(', ')}${names.length > maxListedNames ? ', …' : ''}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
