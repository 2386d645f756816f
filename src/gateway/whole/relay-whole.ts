import * as E from 'fp-ts/lib/Either.js';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { Target } from '#gateway/config/catalogue.ts';
import { applyEdits, asciiJson, editsOf } from '#gateway/framing/splice.ts';
import { type CallResult, catalogueFailure, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import { forwardedHeaders } from '#gateway/providers/provider.ts';
import type { OutgoingRequest } from '#gateway/relay/create-call-record.ts';
import { relay } from '#gateway/relay/relay.ts';
import { PartlyHeldResponse } from '#gateway/response/partly-held-response.ts';
import type { WholeOperation, WholeRequest } from './whole-operation.ts';

/** Answers a request of an operation that is relayed whole. */
export async function relayWhole(
  { operation, path, requiredMember, read, route: routeOf }: WholeOperation,
  call: GatewayCall,
  limits: GatewayLimits,
): Promise<CallResult> {
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await read(bytes.right, limits.maxJsonValues);
  if (E.isLeft(request)) return request;
  const { model } = request.right;
  const route = routeOf(call.configuration.catalogue, model);
  if (E.isLeft(route)) return E.left(catalogueFailure(route.left));
  const { response, answerHold } = call;
  const report = await relay(
    {
      operation,
      caller: call.caller,
      requestId: call.requestId,
      batchId: call.batchId,
      isStreamed: false,
      characters: null,
      startedAt: performance.now(),
      route: route.right,
      response,
      responseHandler: new PartlyHeldResponse({ response, answerHold, requiredMember }),
      canServe: ({ provider }) => call.configuration.providers.get(provider)?.whole !== undefined,
      requestFor: createRequestFactory(call, request.right, path),
    },
    call.gateway.relayDependencies,
  );
  return E.right(report);
}

/** Makes requests for targets, one at a time, because a body may be large; a retry on the same target sends the same bytes. */
function createRequestFactory(
  { configuration, headers, caller }: GatewayCall,
  { bytes, members }: WholeRequest,
  path: string,
): (target: Target) => OutgoingRequest {
  const forwarded = forwardedHeaders(headers, caller.projectId);
  let last: { readonly target: Target; readonly body: Buffer } | null = null;
  return (target) => {
    if (last?.target !== target) {
      const edits = editsOf(members, { replace: { model: asciiJson(target.model) } });
      last = { target, body: applyEdits(bytes, edits) };
    }
    const provider = configuration.providers.get(target.provider);
    if (provider?.whole === undefined) throw new Error(`${target.id} does not have ${path}`);
    const made = provider.whole({ path, body: last.body, forwarded });
    return { transport: provider.transport, redactor: provider.redactor ?? null, ...made };
  };
}
