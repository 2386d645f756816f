import * as E from 'fp-ts/lib/Either.js';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { ModelRoute, Target } from '#gateway/config/catalogue.ts';
import { type CallResult, catalogueFailure, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import { asksForUsage, chatBody, isContinuable } from '#gateway/protocols/openai-chat/chat-body.ts';
import { type ChatRequest, readChatRequest } from '#gateway/protocols/openai-chat/chat-request.ts';
import { ChatStreamInterpreter } from '#gateway/protocols/openai-chat/chat-stream-interpreter.ts';
import { forwardedHeaders } from '#gateway/providers/provider.ts';
import type { OutgoingRequest } from '#gateway/relay/create-call-record.ts';
import { relay } from '#gateway/relay/relay.ts';
import { EventStreamResponse } from '#gateway/response/event-stream-response.ts';
import type { ResponseHandler } from '#gateway/response/response-handler.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';

/** Answers `POST /v1/chat/completions`. */
export async function createChatCompletion(call: GatewayCall, limits: GatewayLimits): Promise<CallResult> {
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await readChatRequest(bytes.right, limits.maxJsonValues);
  if (E.isLeft(request)) return request;
  const { model, hint, stream } = request.right;
  const route = call.configuration.catalogue.chat(model, hint);
  if (E.isLeft(route)) return E.left(catalogueFailure(route.left));
  const report = await relay(
    {
      operation: 'chat',
      caller: call.caller,
      requestId: call.requestId,
      batchId: call.batchId,
      isStreamed: stream,
      characters: null,
      startedAt: performance.now(),
      route: route.right,
      response: call.response,
      responseHandler: createResponseHandler(call, request.right, route.right),
      canServe: ({ provider }) => call.configuration.providers.get(provider)?.chat !== undefined,
      requestFor: createRequestFactory(call, request.right, route.right),
    },
    call.gateway.relayDependencies,
  );
  return E.right(report);
}

function createResponseHandler(call: GatewayCall, request: ChatRequest, route: ModelRoute): ResponseHandler {
  const { response, answerHold } = call;
  if (!request.stream) return new WholeResponse({ response, answerHold, requiredMember: 'choices' });
  const canContinue = route.onStreamFailure === 'continue' && isContinuable(request);
  const takesUsageOut = route.askUsage && !asksForUsage(request);
  return new EventStreamResponse({
    response,
    answerHold,
    createInterpreter: () => new ChatStreamInterpreter(request.choices, canContinue, takesUsageOut),
    isHeldWhole: route.onStreamFailure === 'whole',
    canContinue,
  });
}

/** Makes requests for targets; a retry on the same target sends the same bytes. */
function createRequestFactory(
  { configuration, headers, caller }: GatewayCall,
  request: ChatRequest,
  route: ModelRoute,
): (target: Target, continueFrom: string | null) => OutgoingRequest {
  const asksUsage = request.stream && route.askUsage;
  const forwarded = forwardedHeaders(headers, caller.projectId);
  let last: { readonly target: Target; readonly continueFrom: string | null; readonly body: Buffer } | null = null;
  return (target, continueFrom) => {
    if (last?.target !== target || last.continueFrom !== continueFrom) {
      last = { target, continueFrom, body: chatBody(request, { model: target.model, asksUsage, continueFrom }) };
    }
    const provider = configuration.providers.get(target.provider);
    if (provider?.chat === undefined) throw new Error(`${target.id} cannot chat`);
    const chat = { body: last.body, streams: request.stream, forwarded };
    return { transport: provider.transport, redactor: provider.redactor ?? null, ...provider.chat(chat) };
  };
}
