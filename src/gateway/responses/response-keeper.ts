import { failure } from '#domain/shared/failure.ts';
import { type AttemptFailure, malformed } from '#gateway/attempt/attempt-failure.ts';
import { lastMember, type ValuePlace } from '#gateway/framing/json-members.ts';
import { applyEdits, type Edit } from '#gateway/framing/splice.ts';
import type { RelayedCall, RelayedInput } from '#gateway/gateway-call.ts';
import type { ResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import {
  firstDataIn,
  lastDataIn,
  responseIn,
  rewriteEvent,
  rewriteResponse,
  type StorageMembers,
} from '#gateway/protocols/openai-responses/rewrite-response.ts';
import { maxTranslatedValues, type TextRequest } from '#gateway/protocols/protocol.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import type { Keeper, KeptAnswer } from '#gateway/relay/keeper.ts';
import type { ResponseHead } from '#gateway/response/response-handler.ts';
import type { CopyName } from '#responses/provider-copies.ts';
import type { ProjectGeneration } from '#responses/recent-keys.ts';
import type { BackgroundTarget } from '#responses/response-store.ts';
import { maxTurnBytes } from '#responses/stored-responses.ts';
import type { FinishedTurn } from '#responses/turn.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import { isFinished } from './background-target.ts';
import { checkPauseMs } from './copy-retention.ts';
import type { ExpandedRequest } from './expand-request.ts';
import { inputNames, isName, outputNames, reasoningName } from './item-names.ts';
import { cleanUpLater } from './provider-copy.ts';

export interface ResponseInput extends RelayedInput {
  /** The request as the client sent it. */
  readonly request: ResponsesRequest;
  /** The request as targets get it. */
  readonly text: TextRequest;
  readonly expanded: ExpandedRequest;
  readonly storage: StorageMembers;
  /** The generation of the project when the call began; null if the response is not stored. */
  readonly generation: ProjectGeneration | null;
}

/** The failure of everything that needs the stored responses while they cannot be reached. */
export const storeUnavailable = failure('unavailable', 'The stored responses cannot be reached. Try again later.', {
  retryAfterSeconds: 1,
});

/** The keeper; none for a response that is not stored and continues no other. */
export function responseKeeper(call: RelayedCall<ResponseInput>): Keeper | undefined {
  const { request, storage } = call.input;
  if (!request.isStored && storage.previousResponseId === null) return undefined;
  const keeper = new ResponseKeeper(call);
  return {
    ...(request.isInBackground ? { beforeFirstByte: (first) => keeper.beforeFirstByte(first) } : {}),
    beforeLastByte: (last) => keeper.beforeLastByte(last),
    afterCall: (record) => keeper.afterCall(record),
  };
}

/** Stores the response of one call: before its last bytes leave, and before the first ones of one in the background. */
class ResponseKeeper {
  readonly #call: RelayedCall<ResponseInput>;
  readonly #request: ResponsesRequest;
  readonly #storage: StorageMembers;
  /** The response that is stored while it is made in the background. */
  #unfinishedId: string | null = null;
  /** True if another call records the usage of a response that was stored while it was made. */
  #isCountedElsewhere = false;
  #hasEnded = false;
  #unneeded: { readonly copy: CopyName; readonly isFinished: boolean } | null = null;

  constructor(call: RelayedCall<ResponseInput>) {
    this.#call = call;
    this.#request = call.input.request;
    this.#storage = call.input.storage;
  }

  /** Stores a response that is made in the background. Nobody could read one that cannot be stored. */
  async beforeFirstByte({ bytes, head }: KeptAnswer): Promise<AttemptFailure | null> {
    const response = responseIn(this.#request.isStreamed ? firstDataIn(bytes) : bytes.toString());
    if (response === null) return malformed;
    if (isFinished(response)) return null;
    const turn = this.#turnOf(response, JSON.stringify(response));
    if (turn !== null && (await this.#storeUnfinished(turn, head))) {
      this.#unfinishedId = turn.id;
      return null;
    }
    this.#unneeded = { copy: this.#nameCopy(String(response.id), head), isFinished: false };
    return { kind: 'here', failure: storeUnavailable };
  }

  /** @returns false if it is not stored, or if the call has ended meanwhile, so that nobody has its id */
  async #storeUnfinished(turn: FinishedTurn, head: ResponseHead): Promise<boolean> {
    const isAdded = (await this.#listCopy(turn.id, head, false)) && (await this.#add(turn, head, head.servedFrom));
    if (!isAdded || !(this.#hasEnded || this.#call.client.isDisconnected)) return isAdded;
    await this.#orLogged(() => this.#call.gateway.responses.delete(turn.projectId, turn.id));
    return false;
  }

  async beforeLastByte({ bytes, head }: KeptAnswer): Promise<Buffer> {
    const isAsWritten = this.#request.isStreamed || head.translator !== null;
    const answer = isAsWritten ? bytes : await rewriteResponse(bytes, this.#storage);
    if (!this.#storage.isStored) return answer;
    const text = this.#request.isStreamed ? lastDataIn(answer) : answer.toString();
    if (await this.#store(text, head)) return answer;
    const notStored = { ...this.#storage, isStored: false };
    if (!this.#request.isStreamed) return rewriteResponse(answer, notStored);
    return Buffer.from(answer.toString().replace(text, () => rewriteEvent(text, notStored)));
  }

  /**
   * Deletes the provider's copy of a response if nobody needs it. The usage of one in the background is recorded by the call
   * that first reads its end.
   */
  afterCall(record: CallRecord): CallRecord {
    this.#hasEnded = true;
    if (this.#unneeded !== null) cleanUpLater(this.#call.gateway, this.#unneeded.copy, this.#unneeded.isFinished);
    return this.#isCountedElsewhere ? { ...record, tokens: null, cost: null } : record;
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
    const { expanded, generation } = this.#call.input;
    const { previous, referenced } = expanded;
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
    const { generation } = this.#call.input;
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

  /** The turn; null for an input with more values than can be parsed in one turn of the event loop. */
  #turnOf(response: JsonObject, responseText: string): FinishedTurn | null {
    const { bytes, members, values } = this.#request;
    if (values > maxTranslatedValues) return null;
    const input = lastMember(members, 'input');
    const { marks, unknownIds } = this.#call.input.expanded.reasoning;
    return {
      projectId: this.#call.caller.projectId,
      id: String(response.id),
      inputText: input === undefined ? '[]' : textWith(marks, bytes, input),
      responseText,
      names: [...outputNames(response), ...unknownIds.map(reasoningName), ...inputNames(this.#request)],
    };
  }
}

function textWith(edits: ReadonlyArray<Edit>, bytes: Buffer, { valueStart, end }: ValuePlace): string {
  const inside = edits.map((edit) => ({ ...edit, start: edit.start - valueStart, end: edit.end - valueStart }));
  return applyEdits(bytes.subarray(valueStart, end), inside).toString();
}
