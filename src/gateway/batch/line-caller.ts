import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { BatchLine, LineCalls, LineOutcome, LineRequest } from '#application/batches/line-calls.ts';
import { batchEndpoints } from '#domain/batch/events.ts';
import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';
import { MemoryBody } from '#exchange/body.ts';
import { answersFull } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';
import type { ErrorForm } from '#exchange/error-form.ts';
import { ClientDisconnectedError, Held } from '#exchange/held.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { errorCode } from '#exchange/openai-error.ts';
import type { Endpoint } from '#gateway/endpoints/endpoint.ts';
import { MemberCollector, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import type { Gateway } from '#gateway/gateway.ts';
import type { CallResult, GatewayCall, GatewayLimits } from '#gateway/gateway-call.ts';
import { endpoints } from '#gateway/operations.ts';
import { gatewayErrorResponse, sendError } from '#gateway/response/error-response.ts';
import { readLine } from './read-line.ts';

/** Maximum size of an answer: a speech or a long chat. */
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

/** Calls models through the gateway, without a connection. */
export function createLineCaller(gateway: Gateway, limits: GatewayLimits): LineCalls {
  const { budgets } = gateway.admission;
  return {
    read: (line, endpoint) => readLine(line, endpoint, limits.maxJsonValues),
    call: async (line, request) => {
      const { caller, batchId, signal } = request;
      const held = new Held(caller.projectId, budgets);
      try {
        if (signal.aborted) return { kind: 'ended' };
        if (budgets.answer.fullFor(caller.projectId) !== null) return later;
        const refusal = gateway.limits.acquireInBackground(caller);
        if (refusal !== null) return later;
        held.add(() => gateway.limits.release(caller));
        const configuration = gateway.acquireConfiguration();
        held.add(() => gateway.releaseConfiguration(configuration));
        const written = budgets.answer.hold(caller.projectId);
        const releaseWritten = held.add(() => written.release());
        const response = new MemoryResponse(maxAnswerBytes, written);
        const leave = () => {
          held.leave();
          response.disconnect();
        };
        signal.addEventListener('abort', leave, { once: true });
        held.add(() => signal.removeEventListener('abort', leave));
        const endpoint = lineEndpoints[request.endpoint];
        const headers = { 'content-type': 'application/json', 'idempotency-key': request.idempotencyKey };
        const errors = endpoint.errorForm(headers);
        const lineCall: GatewayCall = {
          gateway,
          limits,
          configuration,
          caller,
          batchId,
          operation: endpoint.http.path,
          target: `POST ${request.endpoint}`,
          maxPageBytes: maxAnswerBytes,
          parameters: {},
          query: '',
          id: randomUUID(),
          startedAt: performance.now(),
          errors,
          headers,
          body: new MemoryBody(line.body),
          client: response,
          held,
        };
        const result = await held.run(() => answer(line, endpoint, lineCall));
        const keep = () => held.keep('batch line', releaseWritten);
        return outcomeAfter(result, response, { signal, keep, errors });
      } catch (error) {
        if (error instanceof ClientDisconnectedError) return { kind: 'ended' };
        throw error;
      } finally {
        held.release();
      }
    },
  };
}

interface AnsweredCall {
  readonly signal: AbortSignal;
  /** Keeps the bytes of the response until the answer is no longer needed. */
  readonly keep: () => Held;
  readonly errors: ErrorForm;
}

function outcomeAfter(
  result: CallResult,
  response: MemoryResponse,
  { signal, keep, errors }: AnsweredCall,
): LineOutcome {
  if (response.lacksRoom || (E.isRight(result) && result.right.code === noRoomCode)) return later;
  const failed = E.isLeft(result) ? result.left : null;
  if (failed !== null && passing.has(failed.code)) {
    return { kind: 'later', afterMs: (failed.retryAfterSeconds ?? 0) * 1_000 || laterMs };
  }
  if (failed !== null) sendError(response, gatewayErrorResponse(failed, { errors, id: '' }));
  if (signal.aborted && !response.isComplete) return { kind: 'ended' };
  const kept = keep();
  return answerOf(response, errors, () => kept.release());
}

const lineEndpoints = Object.fromEntries(batchEndpoints.map((path) => [path, endpointAt(path)])) as Readonly<
  Record<LineRequest['endpoint'], Endpoint>
>;

function endpointAt(path: string): Endpoint {
  const endpoint = endpoints.find(({ http }) => http.path === path);
  if (endpoint === undefined) throw new Error(`The gateway does not serve ${path}, which a batch may call.`);
  return endpoint;
}

/**
 * Answers a line as the gateway answers a client.
 * @param call with the line's JSON as its body
 * @returns as the left side, why it was not relayed
 */
async function answer({ body }: BatchLine, endpoint: Endpoint, call: GatewayCall): Promise<CallResult> {
  const { maxJsonBytes, maxJsonValues } = call.limits;
  if (body.length > maxJsonBytes) return E.left(tooLarge(maxJsonBytes));
  const names = await readNames(body, maxJsonValues);
  if (E.isLeft(names)) return names;
  const { streams, fileId } = names.right;
  if (streams) return E.left(noStream);
  const asked = endpoint.fromLine === undefined ? E.right(call) : await endpoint.fromLine(call, { body, fileId });
  return E.isLeft(asked) ? asked : endpoint.answer(asked.right);
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
    id: '',
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
