import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { bodyTooLarge } from '#exchange/body.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { GatewayCall } from '#gateway/gateway-call.ts';
import { openAiResponses, responsesTextRequest } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { type ResponsesRequest, readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import { maxTranslatedValues } from '#gateway/protocols/protocol.ts';
import { expandRequest } from '#gateway/responses/expand-request.ts';
import { type ResponseInput, responseKeeper } from '#gateway/responses/response-keeper.ts';
import { textResponder } from '#gateway/text/relayed-text.ts';
import { TargetRequests } from '#gateway/text/target-requests.ts';
import type { ProjectGeneration } from '#responses/recent-keys.ts';
import { maxTurnBytes } from '#responses/stored-responses.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { integer } from '#shared/codecs/number.ts';
import { exampleResponse, group, ofConversations, orUnavailable, Response } from './conversations.ts';
import { endpoint } from './endpoint.ts';
import { failuresOfFiles, relayFailures } from './failures.ts';

export const createResponse = endpoint({
  ...ofConversations,
  about: {
    name: 'create_response',
    summary: 'Create a response',
    description:
      'As OpenAI’s, on any model: `model` is a tag of the catalogue, or `auto`. The response and its items are stored for this project, for 30 days, unless `store` is false; `previous_response_id` continues it on any model. The provider never stores it, unless it makes it in the background (`background`, only on a target with `hostedTools`). Every tool that runs at the client works on any model, but for `computer*`. A `file_id` names a file of this project and needs `files:read`.',
    group,
    example: { input: { model: 'auto', input: 'Hello' }, output: exampleResponse },
  },
  http: post('/v1/responses'),
  input: t.intersection([
    t.type({ model: t.string }),
    t.partial({
      input: t.union([t.string, t.array(jsonObject)]),
      instructions: nullable(t.string),
      previous_response_id: nullable(t.string),
      store: nullable(t.boolean),
      stream: nullable(t.boolean),
      background: nullable(t.boolean),
      tools: t.array(jsonObject),
      max_output_tokens: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    }),
  ]),
  output: Response,
  produces: ['text/event-stream'],
  failures: [
    ...relayFailures,
    'unsupported-by-target',
    'provider-resource-not-found',
    'response-not-found',
    'response-not-finished',
    'conversation-too-long',
    'response-item-not-found',
    ...failuresOfFiles,
  ],
  recordedAs: 'responses',
  isMadeInSilence: true,
  read: readResponseInput,
  route: (catalogue, { text }) => catalogue.chat(text.model, text.hint),
  requests: (call, route) => TargetRequests.prepare(call, openAiResponses, call.input.text, route),
  responder: (call, route) => textResponder(call, openAiResponses, call.input.text, route),
  keeper: responseKeeper,
});

async function readResponseInput(call: GatewayCall): Promise<E.Either<Failure, ResponseInput>> {
  const { maxJsonBytes: maxBytes, maxJsonValues, arrival } = call.limits;
  const bytes = await readJsonBytes(call, { maxBytes, arrival });
  if (E.isLeft(bytes)) return bytes;
  const read = await readResponsesRequest(bytes.right, maxJsonValues);
  if (E.isLeft(read)) return read;
  const request = read.right;
  const refused = request.isInBackground ? checkBackground(call, request) : null;
  if (refused !== null) return E.left(refused);
  const { isStored, isStreamed, previousResponseId } = request;
  // The answers of a batch are files.
  const storage = { isStored: isStored && call.batchId === null, previousResponseId };
  const generation = storage.isStored ? await beginStoring(call) : null;
  const expanded = await orUnavailable(() => expandRequest(call, request));
  if (E.isLeft(expanded)) return expanded;
  const { request: whole, containers, gone } = expanded.right;
  const isAsItCame = !isStored && previousResponseId === null;
  const text = responsesTextRequest(whole, isAsItCame ? null : storage, { containers, gone });
  return E.right({ isStreamed, request, text, expanded: expanded.right, storage, generation });
}

/**
 * Begins to store a response. Called before anything of the project is read, so that an erasure during the call leaves
 * nothing of it stored.
 * @returns null if the store cannot be used, so that the response is not stored
 */
async function beginStoring({ gateway, caller }: GatewayCall): Promise<ProjectGeneration | null> {
  const begun = await orUnavailable(async () => E.right(await gateway.responses.beginCall(caller.projectId)));
  return E.isRight(begun) ? begun.right : null;
}

/** Refuses a response that could not be stored before a provider begins to make it. */
function checkBackground({ batchId }: GatewayCall, { bytes, values }: ResponsesRequest): Failure | null {
  if (batchId !== null) return noBackgroundInBatch;
  if (bytes.length > maxBackgroundBytes) return bodyTooLarge(maxBackgroundBytes);
  return values > maxTranslatedValues ? tooManyValues : null;
}

/** An unfinished response repeats what its request says in addition to the input, and adds little. */
const maxBackgroundBytes = maxTurnBytes - 64 * 1024;

const noBackgroundInBatch = invalidInput([
  { pointer: '/background', message: 'must not be true in a batch, which waits for each answer' },
]);

const tooManyValues = invalidInput([
  { pointer: '/input', message: `must have ${maxTranslatedValues} values at most in the background` },
]);
