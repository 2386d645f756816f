import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { remove } from '#application/operations/operation.ts';
import { answeredHere, type CallResult, type GatewayCall } from '#gateway/gateway-call.ts';
import { sendRefusal } from '#gateway/responses/background-response.ts';
import { endCopy } from '#gateway/responses/provider-copy.ts';
import { group, idIn, notFoundHere, ofConversations, orUnavailable, responseId } from './conversations.ts';
import { localEndpoint } from './endpoint.ts';
import { backgroundFailures } from './failures.ts';

export const deleteResponse = localEndpoint({
  ...ofConversations,
  about: {
    name: 'delete_response',
    summary: 'Delete a stored response',
    description:
      'Its items are removed at once, or with the last response that needs them. The provider deletes one that it still makes in the background.',
    group,
    example: { output: { id: 'resp_1', object: 'response', deleted: true } },
  },
  http: remove('/v1/responses/:responseId', 200),
  input: t.type(responseId),
  output: t.type({ id: t.string, object: t.literal('response'), deleted: t.literal(true) }, 'DeletedResponse'),
  failures: ['response-not-found', 'unavailable', ...backgroundFailures],
  answer: (call) => orUnavailable(() => answer(call)),
});

/** Deletes the provider's copy, too, if the end of the response was not read. */
async function answer(call: GatewayCall): Promise<CallResult> {
  const id = idIn(call);
  const { caller, id: requestId, gateway, client } = call;
  const { projectId, keyId, organizationId, partnerId } = caller;
  const background = (await gateway.responses.turns.findOutline(projectId, id))?.background ?? null;
  if (background !== null) {
    const name = { projectId, id, ...background };
    const refused = await endCopy(call, { ...name, keyId, organizationId, partnerId, requestId, isCounted: false });
    if (refused !== null && refused !== 'unknown-target') return sendRefusal(call, background, refused);
  }
  if (!(await gateway.responses.delete(projectId, id))) return E.left(notFoundHere(id));
  const deleted = JSON.stringify({ id, object: 'response', deleted: true });
  client.send(200, ['Content-Type', 'application/json'], deleted);
  return answeredHere;
}
