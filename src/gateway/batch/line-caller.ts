import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { BatchLine, LineCalls, LineOutcome, LineRequest } from '#application/batches/line-calls.ts';
import { notFound } from '#application/operations/access-refusals.ts';
import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';
import { type BodySource, MemoryBody } from '#exchange/body-source.ts';
import { answersFull, type ByteBudget, type ByteReservation } from '#exchange/byte-budget.ts';
import { anthropicErrors, type ErrorForm, openAiErrors, openAiResponsesErrors } from '#exchange/error-form.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { errorCode } from '#exchange/openai-error.ts';
import { MemoryResponse } from '#exchange/response-sink.ts';
import { createSpeech } from '#gateway/audio/create-speech.ts';
import { createTranscription } from '#gateway/audio/create-transcription.ts';
import { MemberCollector, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import type { Gateway } from '#gateway/gateway.ts';
import type { CallResult, GatewayCall, GatewayLimits } from '#gateway/gateway-call.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { gatewayErrorResponse, sendError } from '#gateway/response/error-response.ts';
import { relayResponse } from '#gateway/responses/relay-response.ts';
import { relayText } from '#gateway/text/relay-text.ts';
import { embeddings } from '#gateway/whole/embeddings.ts';
import { relayWhole } from '#gateway/whole/relay-whole.ts';
import { formBody } from './form-body.ts';
import { readFormFields } from './form-fields.ts';
import { readLine } from './read-line.ts';

export interface LineCallerOptions {
  readonly gateway: Gateway;
  readonly limits: GatewayLimits;
  /** Counts the bytes that bodies hold. */
  readonly bodies: ByteBudget;
  /** Counts the bytes that answers hold. */
  readonly answers: ByteBudget;
}

/** The most bytes of one answer: a speech or a long chat. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Refusals by this node's limits or stores, not because of the line. The batch retries such a line later. */
const passing: ReadonlySet<FailureCode> = new Set([
  'too-many-calls',
  'too-many-body-bytes',
  'bodies-full',
  'body-evicted',
  'answers-full',
  'too-many-spool-bytes',
  'spool-full',
  'disk-full',
  'unavailable',
]);

const laterMs = 250;
const later: LineOutcome = { kind: 'later', afterMs: laterMs };

/** Makes the calls of batch lines through the gateway, without a connection. */
export function createLineCaller({ gateway, limits, bodies, answers }: LineCallerOptions): LineCalls {
  return {
    read: (line, endpoint) => readLine(line, endpoint, limits.maxJsonValues),
    call: async (line, request) => {
      const { caller, batchId, signal } = request;
      if (answers.fullFor(caller.projectId) !== null) return later;
      const refusal = gateway.limits.acquireInBackground(caller);
      if (refusal !== null) return later;
      const configuration = gateway.acquireConfiguration();
      const bodyHold = bodies.hold(caller.projectId);
      const answerHold = answers.hold(caller.projectId);
      const responseHold = answers.hold(caller.projectId);
      const response = new MemoryResponse(maxAnswerBytes, responseHold);
      let outcome: LineOutcome | null = null;
      const requestId = randomUUID();
      const leave = () => response.disconnect();
      signal.addEventListener('abort', leave, { once: true });
      try {
        if (signal.aborted) return { kind: 'ended' };
        const ask = (headers: GatewayCall['headers'], body: BodySource): GatewayCall => ({
          gateway,
          limits,
          configuration,
          caller,
          batchId,
          parameters: {},
          query: '',
          requestId,
          errors: formsOfErrors[request.endpoint] ?? openAiErrors,
          headers,
          body,
          bodyHold,
          answerHold,
          response,
        });
        outcome = outcomeAfter(await answer(line, request, { gateway, limits, hold: bodyHold }, ask), response, {
          signal,
          hold: responseHold,
          errors: formsOfErrors[request.endpoint] ?? openAiErrors,
        });
        return outcome;
      } catch (error) {
        if (error instanceof ClientDisconnectedError) return { kind: 'ended' };
        throw error;
      } finally {
        signal.removeEventListener('abort', leave);
        bodyHold.release();
        answerHold.release();
        if (outcome?.kind !== 'answer') responseHold.release();
        gateway.releaseConfiguration(configuration);
        gateway.limits.release(caller);
      }
    },
  };
}

/** What is known of a call when it has ended. */
interface AnsweredCall {
  readonly signal: AbortSignal;
  /** Of its response. An answer releases it when it is not needed any more. */
  readonly hold: ByteReservation;
  readonly errors: ErrorForm;
}

function outcomeAfter(
  result: CallResult,
  response: MemoryResponse,
  { signal, hold, errors }: AnsweredCall,
): LineOutcome {
  if (response.lacksRoom || (E.isRight(result) && result.right.code === noRoomCode)) return later;
  const failed = E.isLeft(result) ? result.left : null;
  if (failed !== null && passing.has(failed.code)) {
    return { kind: 'later', afterMs: (failed.retryAfterSeconds ?? 0) * 1_000 || laterMs };
  }
  if (failed !== null) sendError(response, gatewayErrorResponse(failed, { errors, requestId: '' }));
  if (signal.aborted && !response.isComplete) return { kind: 'ended' };
  return answerOf(response, errors, () => hold.release());
}

/** The endpoints whose clients do not read the form of chat completions. */
const formsOfErrors: Readonly<Partial<Record<LineRequest['endpoint'], ErrorForm>>> = {
  '/v1/responses': openAiResponsesErrors,
  '/v1/messages': anthropicErrors,
};

type Ask = (headers: GatewayCall['headers'], body: BodySource) => GatewayCall;

/**
 * Answers a line as the gateway answers a client.
 * @returns as the left side, why it was not relayed
 */
async function answer(
  line: BatchLine,
  request: LineRequest,
  { gateway, limits, hold }: Pick<LineCallerOptions, 'gateway' | 'limits'> & { readonly hold: ByteReservation },
  ask: Ask,
): Promise<CallResult> {
  const { endpoint, idempotencyKey } = request;
  if (line.body.length > limits.maxJsonBytes) return E.left(tooLarge(limits.maxJsonBytes));
  const names = await readNames(line.body, limits.maxJsonValues);
  if (E.isLeft(names)) return names;
  if (names.right.streams) return E.left(noStream);
  const json = () =>
    ask({ 'content-type': 'application/json', 'idempotency-key': idempotencyKey }, new MemoryBody(line.body));
  switch (endpoint) {
    case '/v1/chat/completions':
      return relayText({ operation: 'chat', protocol: openAiChat }, json(), limits);
    case '/v1/responses':
      return relayResponse(json(), limits);
    case '/v1/messages':
      return relayText({ operation: 'messages', protocol: anthropicMessages }, json(), limits);
    case '/v1/embeddings':
      return relayWhole(embeddings, json(), limits);
    case '/v1/audio/speech':
      return createSpeech(json(), limits);
    case '/v1/audio/transcriptions': {
      const { fileId } = names.right;
      if (fileId === null) return E.left(noFile);
      const file = await gateway.findFile(fileId, request.caller.projectId);
      if (file === null) return E.left(notFound('file-not-found', fileId));
      const fields = await readFormFields(line.body, limits.maxJsonValues, hold);
      if (E.isLeft(fields)) return fields;
      const { contentType, body } = formBody(fields.right, file);
      return createTranscription(ask({ 'content-type': contentType, 'idempotency-key': idempotencyKey }, body), limits);
    }
  }
}

const lineBodyNames = wantedNames({ stream: [], file: [] });

async function readNames(bytes: Buffer, maxValues: number) {
  const members = new MemberCollector(bytes, lineBodyNames);
  const scanned = await scanJsonObject(bytes, maxValues, members);
  if (E.isLeft(scanned)) return scanned;
  const file = scalarMember(bytes, members, 'file');
  return E.right({
    streams: scalarMember(bytes, members, 'stream') === true,
    fileId: typeof file === 'string' ? file : null,
  });
}

const noStream = invalidInput([{ pointer: '/stream', message: 'must not be true in a batch: its answers are files' }]);
const noFile = invalidInput([{ pointer: '/file', message: 'must be the id of a file' }]);

function tooLarge(maxBytes: number): Failure {
  return failure('body-too-large', `The body of a line may have ${maxBytes} bytes at most.`);
}

/** @param release ends the counting of its bytes */
function answerOf(response: MemoryResponse, errors: ErrorForm, release: () => void): LineOutcome {
  const { headers } = response;
  const requestId = headers['x-switchyard-provider-request-id'] ?? randomUUID();
  if (response.isComplete && response.status !== null) {
    const contentType = headers['content-type'] ?? 'application/octet-stream';
    return { kind: 'answer', status: response.status, requestId, contentType, body: response.body, release };
  }
  const broken = gatewayErrorResponse(response.isDisconnected ? answerTooLarge : brokenOff, {
    errors,
    // The line of an answer has an id of its own, next to the error.
    requestId: '',
  });
  return {
    kind: 'answer',
    status: 502,
    requestId,
    contentType: broken.contentType,
    body: Buffer.from(broken.body),
    release,
  };
}

const noRoomCode = errorCode(answersFull.code);
const answerTooLarge = failure('provider-too-large', `The answer has more than ${maxAnswerBytes} bytes.`);
const brokenOff = failure('provider-reset', 'The answer broke off before it was complete.');
