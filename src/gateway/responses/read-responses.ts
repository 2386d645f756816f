import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { answersFull } from '#exchange/byte-budget.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import { readJsonRequest } from '#gateway/framing/json-request.ts';
import { answeredHere, type CallResult, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import type { KeptTurn } from '#responses/turn.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { relayBackground, sendRefusal } from './background-response.ts';
import { listItems } from './list-input-items.ts';
import { endCopy } from './provider-copy.ts';
import { orUnavailable } from './relay-response.ts';
import { sendReplay } from './replay-response.ts';

/**
 * Answers with a stored response, whole or as the stream of its events. One that is still made in the background is the
 * provider's.
 */
export function getResponse(call: GatewayCall): Promise<CallResult> {
  return orUnavailable(async () => {
    const turn = await findTurn(call);
    if (E.isLeft(turn)) return turn;
    const query = new URLSearchParams(call.query);
    const isStreamed = query.get('stream') === 'true';
    const after = Number(query.get('starting_after') ?? -1);
    if (!Number.isSafeInteger(after)) return E.left(notANumber('starting_after'));
    const answerFrom = isStreamed
      ? (stored: KeptTurn) => sendReplay(call, stored, after < 0 ? null : after)
      : (stored: KeptTurn) => sendStored(call, stored);
    if (turn.right.outline.background === null) return answerFrom(turn.right);
    const asked = { action: 'get', isStreamed, query: queryFor(query, isStreamed), answerFrom } as const;
    return relayBackground(call, turn.right, asked);
  });
}

/** Sends a response as it is stored. */
function sendStored({ response }: GatewayCall, { text }: KeptTurn): CallResult {
  response.send(200, ['Content-Type', 'application/json'], text.response);
  return answeredHere;
}

const wholeParameters = ['include', 'include[]'];
const streamParameters = [...wholeParameters, 'starting_after', 'include_obfuscation'];

/** What the provider gets of a query: what it knows, and `stream` as the gateway understands it. */
function queryFor(query: URLSearchParams, isStreamed: boolean): string {
  const known = isStreamed ? streamParameters : wholeParameters;
  const passed = [...query].filter(([name]) => known.includes(name));
  return new URLSearchParams(isStreamed ? [...passed, ['stream', 'true']] : passed).toString();
}

/** Deletes a stored response, and the provider's copy of one whose end was not read. */
export function deleteResponse(call: GatewayCall): Promise<CallResult> {
  return orUnavailable(async () => {
    const id = idIn(call);
    const { caller, requestId, gateway } = call;
    const { projectId, keyId, organizationId, partnerId } = caller;
    const background = (await gateway.responses.turns.findOutline(projectId, id))?.background ?? null;
    if (background !== null) {
      const name = { projectId, id, ...background };
      const refused = await endCopy(call, { ...name, keyId, organizationId, partnerId, requestId, isCounted: false });
      if (refused !== null && refused !== 'unknown-target') return sendRefusal(call, background, refused);
    }
    if (!(await gateway.responses.delete(projectId, id))) return E.left(notFoundHere(id));
    return sendJson(call, { id, object: 'response', deleted: true });
  });
}

/** Cancels a response that is made in the background. One that has ended there stays as it is. */
export function cancelResponse(call: GatewayCall): Promise<CallResult> {
  return orUnavailable(async () => {
    const turn = await findTurn(call);
    if (E.isLeft(turn)) return turn;
    const answerFrom = (stored: KeptTurn) => sendStored(call, stored);
    if (turn.right.outline.background !== null)
      return relayBackground(call, turn.right, { action: 'cancel', isStreamed: false, query: '', answerFrom });
    return (await isOfBackground(turn.right)) ? answerFrom(turn.right) : E.left(notInBackground);
  });
}

async function isOfBackground({ text }: KeptTurn): Promise<boolean> {
  const read = await readJsonRequest(text.response, wantedNames({ background: [] }), Number.POSITIVE_INFINITY);
  return E.isRight(read) && scalarMember(text.response, read.right.members, 'background') === true;
}

const defaultLimit = 20;
const maxLimit = 100;

/** Lists the items of a stored response's input: its own, and those of the turns before it. */
export function listInputItems(call: GatewayCall, limits: GatewayLimits): Promise<CallResult> {
  return orUnavailable(async () => {
    const id = idIn(call);
    const last = await call.gateway.responses.turns.findOutline(call.caller.projectId, id);
    if (last === null) return E.left(notFoundHere(id));
    const query = new URLSearchParams(call.query);
    const limit = Number(query.get('limit') ?? defaultLimit);
    if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) return E.left(notANumber('limit'));
    const order = query.get('order') === 'asc' ? 'asc' : 'desc';
    return listItems(call, last, { limit, order, after: query.get('after') }, limits);
  });
}

/** Finds a response, and takes memory for it before it is read. */
async function findTurn(call: GatewayCall): Promise<E.Either<Failure, KeptTurn>> {
  const id = idIn(call);
  const { turns } = call.gateway.responses;
  const outline = await turns.findOutline(call.caller.projectId, id);
  if (outline === null) return E.left(notFoundHere(id));
  if (!call.answerHold.takeBegun(outline.bytes)) return E.left(answersFull);
  const turn = await turns.read(outline);
  return turn === null ? E.left(notFoundHere(id)) : E.right(turn);
}

function idIn({ parameters: { responseId = '' } }: GatewayCall): string {
  return responseId;
}

function sendJson({ response }: GatewayCall, body: JsonObject): CallResult {
  response.send(200, ['Content-Type', 'application/json'], JSON.stringify(body));
  return answeredHere;
}

function notFoundHere(id: string): Failure {
  return failure(
    'response-not-found',
    `There is no response ${JSON.stringify(id.slice(0, 100))} that this key can access.`,
  );
}

const notInBackground = failure(
  'response-not-in-background',
  'Only a response that was asked for with `background: true` can be cancelled.',
);

function notANumber(parameter: 'limit' | 'starting_after'): Failure {
  const message = parameter === 'limit' ? `must be a whole number from 1 to ${maxLimit}` : 'must be a whole number';
  return invalidInput([{ pointer: `/${parameter}`, parameter, message }]);
}
