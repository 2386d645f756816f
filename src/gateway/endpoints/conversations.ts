import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { openAiResponsesErrors } from '#exchange/error-form.ts';
import { answeredHere, type CallResult, type GatewayCall } from '#gateway/gateway-call.ts';
import { storeUnavailable } from '#gateway/responses/response-keeper.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

export const ofConversations = { access: { scope: 'gateway:write' }, errors: openAiResponsesErrors } as const;
export const group = 'Responses';

export const Response = t.intersection(
  [
    t.type({ output: t.array(jsonObject) }),
    t.partial({
      id: t.string,
      object: t.literal('response'),
      created_at: t.number,
      status: t.string,
      model: t.string,
      store: t.boolean,
      previous_response_id: nullable(t.string),
      usage: nullable(jsonObject),
    }),
  ],
  'Response',
);

export const exampleResponse = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_767_225_600,
  status: 'completed',
  model: 'gpt-4.1',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', annotations: [], text: 'Hello!' }],
    },
  ],
  store: true,
  previous_response_id: null,
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
} as const;

export const responseId = { responseId: t.string };

/** Finds the turn, and takes memory for the response before it is read. @throws UnavailableError */
export async function findTurn(call: GatewayCall): Promise<E.Either<Failure, KeptTurn>> {
  const id = idIn(call);
  const { turns } = call.gateway.responses;
  const outline = await turns.findOutline(call.caller.projectId, id);
  if (outline === null) return E.left(notFoundHere(id));
  const refusal = call.gateway.admission.bytes(call.held, 'answer', outline.bytes);
  if (refusal !== null) return E.left(refusal);
  const turn = await turns.read(outline);
  return turn === null ? E.left(notFoundHere(id)) : E.right(turn);
}

export function idIn({ parameters: { responseId: id = '' } }: GatewayCall): string {
  return id;
}

/** The failure for an id of which this project has no response. */
export function notFoundHere(id: string): Failure {
  return failure(
    'response-not-found',
    `There is no response ${JSON.stringify(id.slice(0, 100))} that this key can access.`,
  );
}

export function sendStored({ client }: GatewayCall, { text }: KeptTurn): CallResult {
  client.send(200, ['Content-Type', 'application/json'], text.response);
  return answeredHere;
}

export async function orUnavailable<Result>(
  work: () => Promise<E.Either<Failure, Result>>,
): Promise<E.Either<Failure, Result>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return E.left(storeUnavailable);
  }
}
