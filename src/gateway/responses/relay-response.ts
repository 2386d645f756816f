import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { bodyTooLarge, readForResponse } from '#exchange/body.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import { malformed } from '#gateway/attempt/attempt-failure.ts';
import { lastMember, type Place } from '#gateway/framing/json-members.ts';
import { applyEdits, type Edit } from '#gateway/framing/splice.ts';
import { type CallResult, catalogueFailure, type GatewayCall } from '#gateway/gateway-call.ts';
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
import type { CallRecord, Usage } from '#gateway/relay/call-record.ts';
import { relay } from '#gateway/relay/relay.ts';
import type { FinishAnswer, PrepareAnswer, ResponseHead } from '#gateway/response/response-handler.ts';
import { textResponder } from '#gateway/text/relayed-text.ts';
import { TargetRequests } from '#gateway/text/target-requests.ts';
import type { CopyName } from '#responses/provider-copies.ts';
import type { ProjectGeneration } from '#responses/recent-keys.ts';
import type { BackgroundTarget } from '#responses/response-store.ts';
import { maxTurnBytes } from '#responses/stored-responses.ts';
import type { FinishedTurn } from '#responses/turn.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import { isFinished } from './background-target.ts';
import { checkPauseMs } from './copy-retention.ts';
import { type ExpandedRequest, expandRequest } from './expand-request.ts';
import { inputNames, isName, outputNames, reasoningName } from './item-names.ts';
import { cleanUpLater } from './provider-copy.ts';

/** Answers a request of Responses: with the turns before it, and so that a later one can continue it. */
export async function relayResponse(call: GatewayCall): Promise<CallResult> {
  const { limits } = call;
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await readForResponse(call.client, () => readResponsesRequest(bytes.right, limits.maxJsonValues));
  if (E.isLeft(request)) return request;
  const refused = request.right.isInBackground ? checkBackground(call, request.right) : null;
  if (refused !== null) return E.left(refused);
  const { isStored, isInBackground, previousResponseId } = request.right;
  // The answers of a batch are files.
  const storage = { isStored: isStored && call.batchId === null, previousResponseId };
  const generation = storage.isStored ? await beginStoring(call) : null;
  const expanded = await orUnavailable(() => expandRequest(call, request.right));
  if (E.isLeft(expanded)) return expanded;
  const isAsItCame = !isStored && previousResponseId === null;
  const { request: whole, containers, gone } = expanded.right;
  const text = responsesTextRequest(whole, isAsItCame ? null : storage, { containers, gone });
  const keeper = new ResponseKeeper(call, request.right, { ...expanded.right, generation }, storage);
  const route = call.configuration.catalogue.chat(text.model, text.hint);
  if (E.isLeft(route)) return E.left(catalogueFailure(route.left));
  const requests = await TargetRequests.prepare(call, openAiResponses, text, route.right);
  if (E.isLeft(requests)) return requests;
  const responder = textResponder(call, openAiResponses, text, route.right, {
    ...(isInBackground ? { prepare: keeper.storeBeforeFirstByte } : {}),
    ...(isAsItCame ? {} : { finish: keeper.storeBeforeLastByte }),
  });
  const report = await relay(
    { ...call, recordedAs: 'responses', isMadeInSilence: !text.isStreamed, input: text },
    { route: route.right, requests: requests.right, responder, ...(isInBackground ? { usage: keeper } : {}) },
  );
  keeper.end();
  return E.right(report);
}

/**
 * Takes the generation of the project, before anything of it is read: an erasure during the call then stores nothing of
 * it. @returns null if the store cannot be used, so that the response is not stored
 */
async function beginStoring({ gateway, caller }: GatewayCall): Promise<ProjectGeneration | null> {
  const begun = await orUnavailable(async () => E.right(await gateway.responses.beginCall(caller.projectId)));
  return E.isRight(begun) ? begun.right : null;
}

/** What a call takes when it begins. */
interface BegunRequest extends ExpandedRequest {
  readonly generation: ProjectGeneration | null;
}

/** Refuses a request whose response could not be stored, before a provider begins to make it. */
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

/** Stores the response of one call: before its last bytes leave, and before the first ones of one in the background. */
class ResponseKeeper implements Usage {
  readonly #call: GatewayCall;
  readonly #request: ResponsesRequest;
  readonly #expanded: BegunRequest;
  readonly #storage: StorageMembers;
  /** The id of the response that is stored while it is made in the background; null for none. */
  #unfinishedId: string | null = null;
  /** Whether another call records the usage of a response that was stored while it was made. */
  #isCountedElsewhere = false;
  #hasEnded = false;
  /** The provider's copy that nobody needs; null for none. */
  #unneeded: { readonly copy: CopyName; readonly isFinished: boolean } | null = null;

  /** @param request as the client sent it */
  constructor(call: GatewayCall, request: ResponsesRequest, expanded: BegunRequest, storage: StorageMembers) {
    this.#call = call;
    this.#request = request;
    this.#expanded = expanded;
    this.#storage = storage;
  }

  /** Stores whose response is made in the background. Nobody could read one that cannot be stored. */
  readonly storeBeforeFirstByte: PrepareAnswer = async (first, head) => {
    const response = responseIn(this.#request.isStreamed ? firstDataIn(first) : first.toString());
    if (response === null) return malformed;
    if (isFinished(response)) return null;
    const turn = this.#turnOf(response, JSON.stringify(response));
    if (turn !== null && (await this.#storeUnfinished(turn, head))) {
      this.#unfinishedId = turn.id;
      return null;
    }
    this.#unneeded = { copy: this.#nameCopy(String(response.id), head), isFinished: false };
    return { kind: 'here', failure: storeUnavailable };
  };

  /** @returns false if it is not stored, or if the call has ended meanwhile, so that nobody has its id */
  async #storeUnfinished(turn: FinishedTurn, head: ResponseHead): Promise<boolean> {
    const isAdded = (await this.#listCopy(turn.id, head, false)) && (await this.#add(turn, head, head.servedFrom));
    if (!isAdded || !(this.#hasEnded || this.#call.client.isDisconnected)) return isAdded;
    await this.#orLogged(() => this.#call.gateway.responses.delete(turn.projectId, turn.id));
    return false;
  }

  /** Records the call of a response in the background. Its usage is recorded by the call that first reads its end. */
  readonly record = (record: CallRecord): void => {
    const { usage } = this.#call.gateway.relayDependencies;
    usage.record(this.#isCountedElsewhere ? { ...record, tokens: null, cost: null } : record);
  };

  readonly storeBeforeLastByte: FinishAnswer = async (last, head) => {
    const isAsWritten = this.#request.isStreamed || head.translator !== null;
    const answer = isAsWritten ? last : await rewriteResponse(last, this.#storage);
    if (!this.#storage.isStored) return answer;
    const text = this.#request.isStreamed ? lastDataIn(answer) : answer.toString();
    if (await this.#store(text, head)) return answer;
    const notStored = { ...this.#storage, isStored: false };
    if (!this.#request.isStreamed) return rewriteResponse(answer, notStored);
    return Buffer.from(answer.toString().replace(text, () => rewriteEvent(text, notStored)));
  };

  /** Ends the call. The provider's copy of a response is deleted afterwards if nobody needs it. */
  end(): void {
    this.#hasEnded = true;
    if (this.#unneeded !== null) cleanUpLater(this.#call.gateway, this.#unneeded.copy, this.#unneeded.isFinished);
  }

  /** @returns whether it is stored: an answer that nobody has, or that failed, is not */
  async #store(text: string, head: ResponseHead): Promise<boolean> {
    if (text.length > maxTurnBytes && !this.#request.isInBackground) return false;
    const response = responseIn(text);
    if (response === null) return false;
    const turn = this.#turnOf(response, this.#request.isStreamed ? JSON.stringify(response) : text);
    if (turn === null) return false;
    if (this.#request.isInBackground) return this.#storeBackground(response, turn, head);
    if (response.status !== 'completed' && response.status !== 'incomplete') return false;
    return !this.#call.client.isDisconnected && this.#add(turn, head);
  }

  async #storeBackground(response: JsonObject, turn: FinishedTurn, head: ResponseHead): Promise<boolean> {
    const isUnfinished = this.#unfinishedId === turn.id;
    if (!isFinished(response)) return isUnfinished;
    if (isUnfinished) this.#isCountedElsewhere = !(await this.#count(turn));
    else await this.#listCopy(turn.id, head, true);
    const isStored = isUnfinished ? await this.#storeEnd(turn) : await this.#add(turn, head);
    if (isStored || !isUnfinished) this.#unneeded = { copy: this.#nameCopy(turn.id, head), isFinished: true };
    return isStored || isUnfinished;
  }

  async #add(turn: FinishedTurn, head: ResponseHead, background?: BackgroundTarget): Promise<boolean> {
    const { gateway } = this.#call;
    const { previous, referenced, generation } = this.#expanded;
    if (generation === null) return false;
    const provider = head.translator === null ? head.provider : null;
    const more = background === undefined ? {} : { background };
    // The others are there only to find a provider by.
    const names = provider === null ? turn.names.filter(isName) : turn.names;
    const added = { ...turn, names, provider, previous, referenced, ...more };
    return this.#orLogged(async () => (await gateway.responses.add(added, generation)) === 'stored');
  }

  #nameCopy(id: string, { servedFrom }: ResponseHead): CopyName {
    return { projectId: this.#call.caller.projectId, id, ...servedFrom };
  }

  /** Lists the provider's copy, so that it is deleted whatever becomes of this call. */
  #listCopy(id: string, head: ResponseHead, isCounted: boolean): Promise<boolean> {
    const { keyId, organizationId, partnerId } = this.#call.caller;
    const due = { isCounted, checkAt: Date.now() + checkPauseMs, failures: 0 };
    return this.#orLogged(async () => {
      const { copies } = this.#call.gateway.responses;
      await copies.add({ ...this.#nameCopy(id, head), keyId, organizationId, partnerId, ...due });
      return true;
    });
  }

  #count({ projectId, id }: FinishedTurn): Promise<boolean> {
    return this.#orLogged(() => this.#call.gateway.responses.copies.count(projectId, id));
  }

  async #storeEnd(turn: FinishedTurn): Promise<boolean> {
    const { generation } = this.#expanded;
    if (generation === null) return false;
    return this.#orLogged(async () => (await this.#call.gateway.responses.finish(turn, generation)) === 'stored');
  }

  async #orLogged(work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.#call.gateway.log.warn({ error: errorText(error) }, 'A response could not be stored');
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
