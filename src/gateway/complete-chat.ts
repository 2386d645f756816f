import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/failure.ts';
import type { Answering } from './answering.ts';
import type { Route, Target } from './catalogue.ts';
import { asksForUsage, chatBody, isContinuable } from './chat-body.ts';
import { type ChatRequest, readChatRequest } from './chat-request.ts';
import { EventStreamAnswer } from './event-stream-answer.ts';
import { forwardedHeaders } from './forwarded-headers.ts';
import { catalogueFailure, type GatewayCall, type GatewayLimits, readJsonBytes } from './gateway-call.ts';
import type { Outgoing } from './relay.ts';
import { relay } from './relay.ts';
import { ChatMeaning } from './stream-meaning.ts';
import { WholeAnswer } from './whole-answer.ts';

/** Answers `POST /v1/chat/completions`. @returns why the call was not relayed; null when it was */
export async function completeChat(call: GatewayCall, limits: GatewayLimits): Promise<Failure | null> {
  const bytes = await readJsonBytes(call, limits);
  if (E.isLeft(bytes)) return bytes.left;
  const request = await readChatRequest(bytes.right, limits.jsonValues);
  if (E.isLeft(request)) return request.left;
  const { model, hint, stream } = request.right;
  const route = call.served.catalogue.chat(model, hint);
  if (E.isLeft(route)) return catalogueFailure(route.left);
  await relay(
    {
      operation: 'chat',
      caller: call.caller,
      streamed: stream,
      characters: null,
      startedAt: performance.now(),
      route: route.right,
      client: call.client,
      answering: answeringOf(call, request.right, route.right),
      canServe: ({ provider }) => call.served.providers.get(provider)?.chat !== undefined,
      requestFor: requestsOf(call, request.right, route.right),
    },
    call.gateway.means,
  );
  return null;
}

function answeringOf({ client }: GatewayCall, request: ChatRequest, route: Route): Answering {
  if (!request.stream) return new WholeAnswer({ client, mustHave: 'choices' });
  const continues = route.onStreamFailure === 'continue' && isContinuable(request);
  const takesUsageOut = route.askUsage && !asksForUsage(request);
  return new EventStreamAnswer({
    client,
    meaning: () => new ChatMeaning(request.choices, continues, takesUsageOut),
    whole: route.onStreamFailure === 'whole',
    continues,
  });
}

/** Makes requests for targets; a second try on the same one sends the same bytes. */
function requestsOf(
  { served, ctx, caller }: GatewayCall,
  request: ChatRequest,
  route: Route,
): (target: Target, continueFrom: string | null) => Outgoing {
  const asksUsage = request.stream && route.askUsage;
  const forwarded = forwardedHeaders(ctx.req.headers, caller.projectId);
  let last: { readonly target: Target; readonly continueFrom: string | null; readonly body: Buffer } | null = null;
  return (target, continueFrom) => {
    if (last?.target !== target || last.continueFrom !== continueFrom) {
      last = { target, continueFrom, body: chatBody(request, { model: target.model, asksUsage, continueFrom }) };
    }
    const provider = served.providers.get(target.provider);
    if (provider?.chat === undefined) throw new Error(`${target.id} cannot chat`);
    const chat = { body: last.body, streams: request.stream, forwarded };
    return { transport: provider.transport, redactor: provider.redactor ?? null, ...provider.chat(chat) };
  };
}
