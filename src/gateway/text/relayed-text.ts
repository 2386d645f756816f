import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { Catalogue, ModelRoute } from '#gateway/config/catalogue.ts';
import type { GatewayCall, RelayedCall } from '#gateway/gateway-call.ts';
import type { ClientProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { redactEventErrors } from '#gateway/response/errors-inside.ts';
import { EventStreamResponse } from '#gateway/response/event-stream-response.ts';
import type { ResponseHandler } from '#gateway/response/response-handler.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';
import { inlineFiles } from './inline-files.ts';
import { TargetRequests } from './target-requests.ts';

export function relayedText(protocol: ClientProtocol) {
  return {
    errors: protocol.client.errors,
    isMadeInSilence: true,
    read: (call: GatewayCall) => readText(protocol, call),
    route: (catalogue: Catalogue, { model, hint }: TextRequest) => catalogue.chat(model, hint),
    requests: (call: RelayedCall<TextRequest>, route: ModelRoute) =>
      TargetRequests.prepare(call, protocol, call.input, route),
    responder: (call: RelayedCall<TextRequest>, route: ModelRoute) => textResponder(call, protocol, call.input, route),
  };
}

async function readText({ client }: ClientProtocol, call: GatewayCall): Promise<E.Either<Failure, TextRequest>> {
  const { maxJsonBytes: maxBytes, maxJsonValues, arrival } = call.limits;
  const bytes = await readJsonBytes(call, { maxBytes, arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await client.read(bytes.right, maxJsonValues);
  if (E.isLeft(request) || request.right.files.length === 0) return request;
  const inlined = await inlineFiles(call, { bytes: bytes.right, files: request.right.files }, { imageMember: null });
  return E.isLeft(inlined) ? inlined : client.read(inlined.right.bytes, maxJsonValues);
}

export function textResponder(
  call: GatewayCall,
  protocol: ClientProtocol,
  request: TextRequest,
  { name, onStreamFailure, askUsage }: ModelRoute,
): ResponseHandler {
  const { client: response, held } = call;
  const answerHold = held.answer;
  const { requiredMember } = protocol;
  if (!request.isStreamed) return new WholeResponse({ response, answerHold, requiredMember });
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
    signOfLife: protocol.client.signOfLife,
    failedStream: (error) => request.failedStream?.(name, error) ?? null,
    canContinue,
    repeatedBytes: request.repeatedBytes,
  });
}
