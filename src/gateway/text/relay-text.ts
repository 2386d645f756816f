import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { readForResponse } from '#exchange/body-source.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { ModelRoute } from '#gateway/config/catalogue.ts';
import { type CallResult, catalogueFailure, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import type { ClientProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import type { CallRecord, Usage } from '#gateway/relay/call-record.ts';
import { relay } from '#gateway/relay/relay.ts';
import { redactEventErrors } from '#gateway/response/errors-inside.ts';
import { EventStreamResponse } from '#gateway/response/event-stream-response.ts';
import type { FinishAnswer, PrepareAnswer, ResponseHandler } from '#gateway/response/response-handler.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';
import { inlineFiles, type RequestWithFiles } from './inline-files.ts';
import { TargetRequests } from './target-requests.ts';

/** An endpoint for texts: what its calls are counted as, and the protocol of its clients. */
export interface TextEndpoint {
  readonly operation: CallRecord['operation'];
  readonly protocol: ClientProtocol;
}

/** Answers a request for a text, in any protocol. */
export async function relayText(
  { operation, protocol }: TextEndpoint,
  call: GatewayCall,
  limits: GatewayLimits,
): Promise<CallResult> {
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const read = readForResponse(call.response, () => protocol.client.read(bytes.right, limits.maxJsonValues));
  const request = read instanceof Promise ? await read : read;
  if (E.isLeft(request)) return request;
  const { files } = request.right;
  const whole = files.length === 0 ? request : await withFiles(protocol, call, limits, { bytes: bytes.right, files });
  if (E.isLeft(whole)) return whole;
  return await relayRequest({ endpoint: { operation, protocol }, call, request: whole.right });
}

/** Puts the files of a request into it, and reads it again. */
async function withFiles(
  { client }: ClientProtocol,
  call: GatewayCall,
  { maxJsonValues }: GatewayLimits,
  request: RequestWithFiles,
): Promise<E.Either<Failure, TextRequest>> {
  const inlined = await inlineFiles(call, request, { imageMember: null });
  return E.isLeft(inlined) ? inlined : client.read(inlined.right.bytes, maxJsonValues);
}

/** A request that was read and checked. */
export interface CheckedRequest {
  readonly endpoint: TextEndpoint;
  readonly call: GatewayCall;
  readonly request: TextRequest;
  /** What is done before the client has any of its answer; missing for nothing. */
  readonly prepare?: PrepareAnswer;
  /** What is done with its answer before the client has all of it; missing for nothing. */
  readonly finish?: FinishAnswer;
  /** Takes its record; missing for the gateway's. */
  readonly usage?: Usage;
}

/** Relays a request that was read and checked. */
export async function relayRequest(checked: CheckedRequest): Promise<CallResult> {
  const { endpoint, call, request, usage } = checked;
  const { model, hint, isStreamed } = request;
  const route = call.configuration.catalogue.chat(model, hint);
  if (E.isLeft(route)) return E.left(catalogueFailure(route.left));
  const prepared = TargetRequests.prepare(call, endpoint.protocol, request, route.right);
  const requests = prepared instanceof Promise ? await prepared : prepared;
  if (E.isLeft(requests)) return requests;
  const report = await relay(
    { ...call, recordedAs: endpoint.operation, isMadeInSilence: !isStreamed, input: request },
    {
      route: route.right,
      requests: requests.right,
      responder: createResponseHandler(checked, route.right),
      ...(usage === undefined ? {} : { usage }),
    },
  );
  return E.right(report);
}

function createResponseHandler(
  { endpoint, call, request, prepare, finish }: CheckedRequest,
  { name, onStreamFailure, askUsage }: ModelRoute,
): ResponseHandler {
  const { response, answerHold } = call;
  const hooks = { ...(prepare === undefined ? {} : { prepare }), ...(finish === undefined ? {} : { finish }) };
  if (!request.isStreamed) {
    const { requiredMember } = endpoint.protocol;
    return new WholeResponse({ response, answerHold, requiredMember, isParsed: prepare !== undefined, ...hooks });
  }
  const canContinue = onStreamFailure === 'continue' && request.isContinuable();
  const takesUsageOut = askUsage && !request.asksForUsage();
  return new EventStreamResponse({
    response,
    call,
    answerHold,
    createInterpreter: ({ redactor }) =>
      request.watch({
        keepsText: canContinue,
        takesUsageOut,
        redactErrors: (data) => redactEventErrors(data, redactor),
      }),
    isHeldWhole: onStreamFailure === 'whole',
    signOfLife: endpoint.protocol.client.signOfLife,
    failedStream: (error) => request.failedStream?.(name, error) ?? null,
    canContinue,
    repeatedBytes: request.repeatedBytes,
    ...hooks,
  });
}
