import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import { failure } from '#domain/shared/failure.ts';
import { readJsonRequest, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import type { CallResult, GatewayCall } from '#gateway/gateway-call.ts';
import { relayBackground } from '#gateway/responses/background-response.ts';
import type { KeptTurn } from '#responses/turn.ts';
import {
  exampleResponse,
  findTurn,
  group,
  ofConversations,
  orUnavailable,
  Response,
  responseId,
  sendStored,
} from './conversations.ts';
import { localEndpoint } from './endpoint.ts';
import { backgroundFailures } from './failures.ts';

export const cancelResponse = localEndpoint({
  ...ofConversations,
  about: {
    name: 'cancel_response',
    summary: 'Cancel a response that is made in the background',
    description: 'One that has ended stays as it is. One that was not asked for with `background` is refused.',
    group,
    example: { output: exampleResponse },
  },
  http: post('/v1/responses/:responseId/cancel'),
  input: t.type(responseId),
  output: Response,
  failures: ['response-not-found', 'response-not-in-background', 'unavailable', ...backgroundFailures],
  answer: (call) => orUnavailable(() => answer(call)),
});

async function answer(call: GatewayCall): Promise<CallResult> {
  const turn = await findTurn(call);
  if (E.isLeft(turn)) return turn;
  const answerFrom = (stored: KeptTurn) => sendStored(call, stored);
  if (turn.right.outline.background !== null)
    return relayBackground(call, turn.right, { action: 'cancel', isStreamed: false, query: '', answerFrom });
  return (await isOfBackground(turn.right)) ? answerFrom(turn.right) : E.left(notInBackground);
}

async function isOfBackground({ text }: KeptTurn): Promise<boolean> {
  const read = await readJsonRequest(text.response, wantedNames({ background: [] }), Number.POSITIVE_INFINITY);
  return E.isRight(read) && scalarMember(text.response, read.right.members, 'background') === true;
}

const notInBackground = failure(
  'response-not-in-background',
  'Only a response that was asked for with `background: true` can be cancelled.',
);
