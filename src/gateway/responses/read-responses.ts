import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { answersFull } from '#exchange/byte-budget.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { answeredHere, type CallResult, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import { writeReplay } from '#gateway/protocols/openai-responses/responses-answer-writer.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { isReferenceItem, itemsOfTurn } from '#responses/turn-items.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { relayBackground, sendRefusal } from './background-response.ts';
import { endCopy } from './provider-copy.ts';
import { orUnavailable } from './relay-response.ts';

/**
 * Answers with a stored response, whole or as the stream of its events. One that is still made in the background is the
 * provider's.
 */
export function getResponse(call: GatewayCall): Promise<CallResult> {
  return orUnavailable(async () => {
    const turn = await findTurn(call);
    if (E.isLeft(turn)) return turn;
    if (!call.answerHold.takeBegun(turn.right.outline.bytes)) return E.left(answersFull);
    const query = new URLSearchParams(call.query);
    const isStreamed = query.get('stream') === 'true';
    const after = Number(query.get('starting_after') ?? -1);
    if (!Number.isSafeInteger(after)) return E.left(notANumber('starting_after'));
    const answerFrom = isStreamed
      ? (stored: KeptTurn) => sendReplay(call, stored, after < 0 ? null : after)
      : (stored: KeptTurn) => sendJson(call, stored.response);
    if (turn.right.outline.background === null) return answerFrom(turn.right);
    const asked = { action: 'get', isStreamed, query: queryFor(query, isStreamed), answerFrom } as const;
    return relayBackground(call, turn.right, asked);
  });
}

function sendReplay(call: GatewayCall, { response }: KeptTurn, after: number | null): CallResult {
  call.response.send(200, ['Content-Type', 'text/event-stream'], writeReplay(response, after));
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
    const background = (await gateway.responses.turns.find(projectId, id))?.outline.background ?? null;
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
    const { outline, response } = turn.right;
    const answerFrom = (stored: KeptTurn) => sendJson(call, stored.response);
    if (outline.background !== null)
      return relayBackground(call, turn.right, { action: 'cancel', isStreamed: false, query: '', answerFrom });
    return response.background === true ? sendJson(call, response) : E.left(notInBackground);
  });
}

const defaultLimit = 20;
const maxLimit = 100;

/** Lists the items of a stored response's input: its own, and those of the turns before it. */
export function listInputItems(call: GatewayCall, limits: GatewayLimits): Promise<CallResult> {
  return orUnavailable(async () => {
    const id = idIn(call);
    const { gateway, caller, answerHold } = call;
    const turns = await gateway.responses.turns.conversation(caller.projectId, id, {
      maxBytes: limits.maxJsonBytes,
      reserve: (bytes) => answerHold.takeBegun(bytes),
    });
    if (turns === null) return E.left(notFoundHere(id));
    if (typeof turns === 'string') return E.left(turns === 'too-long' ? tooLong : answersFull);
    return pageOf(call, inputOf(turns));
  });
}

function inputOf(turns: ReadonlyArray<KeptTurn>): ReadonlyArray<JsonObject> {
  const last = turns.at(-1);
  const before = turns.slice(0, -1).flatMap(itemsOfTurn);
  const made = new Map(turns.flatMap(itemsOfTurn).map((item) => [item.id, item]));
  // An item of another conversation is shown as the reference to it.
  return [...before, ...(last?.input ?? [])].map((item) =>
    isReferenceItem(item) ? (made.get(item.id) ?? item) : item,
  );
}

function pageOf(call: GatewayCall, items: ReadonlyArray<JsonObject>): CallResult {
  const query = new URLSearchParams(call.query);
  const limit = Number(query.get('limit') ?? defaultLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) return E.left(notANumber('limit'));
  const ordered = query.get('order') === 'asc' ? items : items.toReversed();
  const after = query.get('after');
  const from = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) return E.left(notListed);
  const data = ordered.slice(from, from + limit);
  return sendJson(call, {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  });
}

async function findTurn(call: GatewayCall): Promise<E.Either<Failure, KeptTurn>> {
  const id = idIn(call);
  const turn = await call.gateway.responses.turns.find(call.caller.projectId, id);
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

const tooLong = failure('body-too-large', 'The conversation is too long to be listed.');

const notListed = invalidInput([
  { pointer: '/after', parameter: 'after', message: 'must be the id of an item of this list' },
]);

function notANumber(parameter: 'limit' | 'starting_after'): Failure {
  const message = parameter === 'limit' ? `must be a whole number from 1 to ${maxLimit}` : 'must be a whole number';
  return invalidInput([{ pointer: `/${parameter}`, parameter, message }]);
}
