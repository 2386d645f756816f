import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { CallResult, GatewayCall } from '#gateway/gateway-call.ts';
import { relayBackground } from '#gateway/responses/background-response.ts';
import { sendReplay } from '#gateway/responses/replay-response.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { integer } from '#shared/codecs/number.ts';
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

export const getResponse = localEndpoint({
  ...ofConversations,
  about: {
    name: 'get_response',
    summary: 'Get a stored response',
    description:
      'With `stream=true` as the stream of its events, after `starting_after` where it is given. One that is made in the background is the provider’s until it is finished; its end is stored when it is first read.',
    group,
    example: { output: exampleResponse },
  },
  http: get('/v1/responses/:responseId'),
  input: t.intersection([t.type(responseId), t.partial({ stream: t.boolean, starting_after: integer(0, 1e9) })]),
  output: Response,
  produces: ['text/event-stream'],
  failures: ['response-not-found', 'unavailable', ...backgroundFailures],
  answer: (call) => orUnavailable(() => answer(call)),
});

/** Answers a stored response. One that is still made in the background is the provider's. */
async function answer(call: GatewayCall): Promise<CallResult> {
  const turn = await findTurn(call);
  if (E.isLeft(turn)) return turn;
  const query = new URLSearchParams(call.query);
  const isStreamed = query.get('stream') === 'true';
  const after = Number(query.get('starting_after') ?? -1);
  if (!Number.isSafeInteger(after)) return E.left(notANumber);
  const answerFrom = isStreamed
    ? (stored: KeptTurn) => sendReplay(call, stored, after < 0 ? null : after)
    : (stored: KeptTurn) => sendStored(call, stored);
  if (turn.right.outline.background === null) return answerFrom(turn.right);
  const asked = { action: 'get', isStreamed, query: queryFor(query, isStreamed), answerFrom } as const;
  return relayBackground(call, turn.right, asked);
}

const wholeParameters = ['include', 'include[]'];
const streamParameters = [...wholeParameters, 'starting_after', 'include_obfuscation'];

/** What the provider knows of the query, and `stream` as the gateway understands it. */
function queryFor(query: URLSearchParams, isStreamed: boolean): string {
  const known = isStreamed ? streamParameters : wholeParameters;
  const passed = [...query].filter(([name]) => known.includes(name));
  return new URLSearchParams(isStreamed ? [...passed, ['stream', 'true']] : passed).toString();
}

const notANumber = invalidInput([
  { pointer: '/starting_after', parameter: 'starting_after', message: 'must be a whole number' },
]);
