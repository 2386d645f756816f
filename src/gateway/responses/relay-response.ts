import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import { malformed } from '#gateway/attempt/attempt-failure.ts';
import { lastMember, type Place } from '#gateway/framing/json-members.ts';
import { applyEdits, type Edit } from '#gateway/framing/splice.ts';
import type { CallResult, GatewayCall, GatewayLimits } from '#gateway/gateway-call.ts';
import { openAiResponses, responsesTextRequest } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { type ResponsesRequest, readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import {
  firstDataIn,
  lastDataIn,
  responseIn,
  rewriteEvent,
  rewriteResponse,
  type StorageMembers,
} from '#gateway/protocols/openai-responses/rewrite-response.ts';
import { maxTranslatedValues } from '#gateway/protocols/protocol.ts';
import type { FinishAnswer, PrepareAnswer, ResponseHead } from '#gateway/response/response-handler.ts';
import { relayRequest } from '#gateway/text/relay-text.ts';
import type { BackgroundTarget } from '#responses/response-store.ts';
import type { FinishedTurn } from '#responses/turn.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { cancelAtProvider, deleteAtProvider, isFinished } from './background-response.ts';
import { type ExpandedRequest, expandRequest } from './expand-request.ts';
import { inputNames, outputNames, reasoningName } from './item-names.ts';

/** Answers a request of Responses: with the turns before it, and so that a later one can continue it. */
export async function relayResponse(call: GatewayCall, limits: GatewayLimits): Promise<CallResult> {
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await readResponsesRequest(bytes.right, limits.maxJsonValues);
  if (E.isLeft(request)) return request;
  if (request.right.isInBackground && call.batchId !== null) return E.left(noBackgroundInBatch);
  const expanded = await orUnavailable(() => expandRequest(call, request.right, limits));
  if (E.isLeft(expanded)) return expanded;
  const { isStored, isInBackground, previousResponseId } = request.right;
  // The answers of a batch are files.
  const storage = { isStored: isStored && call.batchId === null, previousResponseId };
  const isAsItCame = !isStored && previousResponseId === null;
  const { request: whole, containers } = expanded.right;
  const text = responsesTextRequest(whole, isAsItCame ? null : storage, containers);
  const keeper = new ResponseKeeper(call, request.right, expanded.right, storage);
  const result = await relayRequest({
    endpoint: { operation: 'responses', protocol: openAiResponses },
    call,
    request: text,
    ...(isInBackground ? { prepare: keeper.prepare } : {}),
    ...(isAsItCame ? {} : { finish: keeper.finish }),
  });
  await keeper.deleteElsewhere();
  return result;
}

const noBackgroundInBatch = invalidInput([
  { pointer: '/background', message: 'must not be true in a batch, which waits for each answer' },
]);

/** Does what needs the stored responses. */
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

const storeUnavailable = failure('unavailable', 'The stored responses cannot be reached. Try again later.', {
  retryAfterSeconds: 1,
});

/** Stores the response of one call: before its last bytes leave, or before the first ones if it is made in the background. */
class ResponseKeeper {
  readonly #call: GatewayCall;
  readonly #request: ResponsesRequest;
  readonly #expanded: ExpandedRequest;
  readonly #storage: StorageMembers;
  /** The id of the response that is stored while it is made in the background; null for none. */
  #unfinishedId: string | null = null;
  /** What has made a response in the background whose end is stored; null for none. */
  #finished: { readonly by: BackgroundTarget; readonly id: string } | null = null;

  /** @param request as the client sent it */
  constructor(call: GatewayCall, request: ResponsesRequest, expanded: ExpandedRequest, storage: StorageMembers) {
    this.#call = call;
    this.#request = request;
    this.#expanded = expanded;
    this.#storage = storage;
  }

  /** Stores whose response is made in the background. One that cannot be stored is cancelled, for nobody could read it. */
  readonly prepare: PrepareAnswer = async (first, head) => {
    const response = responseIn(this.#request.isStreamed ? firstDataIn(first) : first.toString());
    if (response === null) return malformed;
    if (isFinished(response)) return null;
    const turn = this.#turnOf(response, JSON.stringify(response));
    if (turn !== null && (await this.#add(turn, head, head.servedFrom))) {
      this.#unfinishedId = turn.id;
      return null;
    }
    await cancelAtProvider(this.#call, head.servedFrom, String(response.id));
    return { kind: 'here', failure: storeUnavailable };
  };

  readonly finish: FinishAnswer = async (last, head) => {
    const isAsWritten = this.#request.isStreamed || head.translator !== null;
    const answer = isAsWritten ? last : rewriteResponse(last, this.#storage);
    if (!this.#storage.isStored) return answer;
    const text = this.#request.isStreamed ? lastDataIn(answer) : answer.toString();
    if (await this.#store(text, head)) return answer;
    const notStored = { ...this.#storage, isStored: false };
    if (!this.#request.isStreamed) return rewriteResponse(answer, notStored);
    return Buffer.from(answer.toString().replace(text, () => rewriteEvent(text, notStored)));
  };

  /** Deletes the provider's copy of a response that was made in the background and is stored here. */
  async deleteElsewhere(): Promise<void> {
    if (this.#finished !== null) await deleteAtProvider(this.#call, this.#finished.by, this.#finished.id);
  }

  /** @returns whether it is stored: an answer that nobody has, or that failed, is not */
  async #store(text: string, head: ResponseHead): Promise<boolean> {
    const response = responseIn(text);
    if (response === null) return false;
    const turn = this.#turnOf(response, this.#request.isStreamed ? JSON.stringify(response) : text);
    if (turn === null) return false;
    if (this.#request.isInBackground) return this.#storeBackground(response, turn, head);
    if (response.status !== 'completed' && response.status !== 'incomplete') return false;
    return !this.#call.response.isDisconnected && this.#add(turn, head);
  }

  async #storeBackground(response: JsonObject, turn: FinishedTurn, head: ResponseHead): Promise<boolean> {
    const isUnfinished = this.#unfinishedId === turn.id;
    if (!isFinished(response)) return isUnfinished;
    const isStored = isUnfinished ? await this.#finish(turn) : await this.#add(turn, head);
    if (isStored) this.#finished = { by: head.servedFrom, id: turn.id };
    return isStored || isUnfinished;
  }

  async #add(turn: FinishedTurn, head: ResponseHead, background?: BackgroundTarget): Promise<boolean> {
    const { gateway } = this.#call;
    const { previous, referenced } = this.#expanded;
    const provider = head.translator === null ? head.provider : null;
    const more = background === undefined ? {} : { background };
    return this.#orLogged(() => gateway.responses.add({ ...turn, provider, previous, referenced, ...more }));
  }

  async #finish(turn: FinishedTurn): Promise<boolean> {
    return this.#orLogged(async () => (await this.#call.gateway.responses.finish(turn)) === 'stored');
  }

  async #orLogged(work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.#call.gateway.log.warn({ error: String(error) }, 'A response could not be stored');
      return false;
    }
  }

  /** The turn to store; null for an input with more values than can be parsed in one turn of the event loop. */
  #turnOf(response: JsonObject, responseText: string): FinishedTurn | null {
    const { bytes, members, values } = this.#request;
    if (values > maxTranslatedValues) return null;
    const input = lastMember(members, 'input');
    const { marks, unknownIds } = this.#expanded.reasoning;
    return {
      projectId: this.#call.caller.projectId,
      id: String(response.id),
      inputText: input === undefined ? '[]' : textWith(marks, bytes, input),
      responseText,
      names: [...outputNames(response), ...unknownIds.map(reasoningName), ...inputNames(this.#request)],
    };
  }
}

/** The text of a part of a body, after edits inside of it. */
function textWith(edits: ReadonlyArray<Edit>, bytes: Buffer, { valueStart, end }: Place): string {
  const inside = edits.map((edit) => ({ ...edit, start: edit.start - valueStart, end: edit.end - valueStart }));
  return applyEdits(bytes.subarray(valueStart, end), inside).toString();
}
