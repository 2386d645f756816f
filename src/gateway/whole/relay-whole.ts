import * as E from 'fp-ts/lib/Either.js';
import { readForResponse } from '#exchange/body-source.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { ModelRoute, Target } from '#gateway/config/catalogue.ts';
import { applyEdits, asciiJson, editsOf } from '#gateway/framing/splice.ts';
import { type CallResult, catalogueFailure, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import { forwardedHeaders, headersNamed } from '#gateway/providers/provider.ts';
import { relay } from '#gateway/relay/relay.ts';
import { type OutgoingRequest, outgoingThrough } from '#gateway/relay/requests.ts';
import { PartlyHeldResponse } from '#gateway/response/partly-held-response.ts';
import type { WholeOperation, WholeRequest } from './whole-operation.ts';

/** Answers a request of an operation that is relayed whole. */
export async function relayWhole(
  operation: WholeOperation,
  call: GatewayCall,
  limits: GatewayLimits,
): Promise<CallResult> {
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await readForResponse(call.response, () => operation.read(bytes.right, limits.maxJsonValues));
  if (E.isLeft(request)) return request;
  const route = operation.route(call.configuration.catalogue, request.right.model);
  if (E.isLeft(route)) return E.left(catalogueFailure(route.left));
  const canServe = ({ provider }: Target) => canRelay(call, provider, operation);
  const { targets, fallbacks } = route.right;
  if (operation.answerHere !== undefined && ![...targets, ...fallbacks].some(canServe))
    return operation.answerHere(request.right, call);
  return relayRequest(operation, call, request.right, { route: route.right, canServe });
}

function canRelay({ configuration }: GatewayCall, provider: string, { path }: WholeOperation): boolean {
  return configuration.providers.get(provider)?.wholePaths?.includes(path) === true;
}

async function relayRequest(
  operation: WholeOperation,
  call: GatewayCall,
  request: WholeRequest,
  { route, canServe }: { readonly route: ModelRoute; readonly canServe: (target: Target) => boolean },
): Promise<CallResult> {
  const { response, answerHold } = call;
  const report = await relay(
    { ...call, recordedAs: operation.operation, isMadeInSilence: false, input: { isStreamed: false } },
    {
      route,
      requests: { canServe, requestFor: createRequestFactory(call, request, operation) },
      responder: new PartlyHeldResponse({ response, answerHold, requiredMember: operation.requiredMember }),
      takeOver: (failure) => answerInstead(operation, call, request, failure),
    },
  );
  return E.right(report);
}

async function answerInstead(
  { answerHere, isMissing }: WholeOperation,
  call: GatewayCall,
  request: WholeRequest,
  failure: AttemptFailure,
): Promise<boolean> {
  if (answerHere === undefined || isMissing?.(failure) !== true) return false;
  await answerHere(request, call);
  return true;
}

/** Makes requests for targets, one at a time, because a body may be large; a retry on the same target sends the same bytes. */
function createRequestFactory(
  { configuration, headers, caller, query }: GatewayCall,
  { bytes, members }: WholeRequest,
  { path, headers: alsoForwarded = [] }: WholeOperation,
): (target: Target) => OutgoingRequest {
  const forwarded = [...forwardedHeaders(headers, caller.projectId), ...headersNamed(alsoForwarded, headers)];
  let last: { readonly target: Target; readonly body: Buffer } | null = null;
  return (target) => {
    if (last?.target !== target) {
      const edits = editsOf(members, { replace: { model: asciiJson(target.model) } });
      last = { target, body: applyEdits(bytes, edits) };
    }
    const provider = configuration.providers.get(target.provider);
    if (provider?.whole === undefined) throw new Error(`${target.id} does not have ${path}`);
    const made = provider.whole({ path, query: query === '' ? '' : `?${query}`, body: last.body, forwarded });
    return outgoingThrough(provider, made);
  };
}
