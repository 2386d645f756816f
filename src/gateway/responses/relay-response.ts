import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import { lastMember } from '#gateway/framing/json-members.ts';
import type { CallResult, GatewayCall, GatewayLimits } from '#gateway/gateway-call.ts';
import { openAiResponses, responsesTextRequest } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { type ResponsesRequest, readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import {
  rewriteEvent,
  rewriteResponse,
  type StorageMembers,
} from '#gateway/protocols/openai-responses/rewrite-response.ts';
import { maxTranslatedValues } from '#gateway/protocols/protocol.ts';
import type { FinishAnswer, ResponseHead } from '#gateway/response/response-handler.ts';
import { relayRequest } from '#gateway/text/relay-text.ts';
import { heavyWork, largeBodyBytes } from '#shared/async/event-loop-budget.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { isObject, type JsonObject, parsedJson } from '#shared/json/json.ts';
import { type ExpandedRequest, expandRequest } from './expand-request.ts';
import { ownItems } from './input-items.ts';

/** Answers a request of Responses: with the turns before it, and so that a later one can continue it. */
export async function relayResponse(call: GatewayCall, limits: GatewayLimits): Promise<CallResult> {
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await readResponsesRequest(bytes.right, limits.maxJsonValues);
  if (E.isLeft(request)) return request;
  const expanded = await orUnavailable(() => expandRequest(call, request.right, limits));
  if (E.isLeft(expanded)) return expanded;
  const { isStored, previousResponseId } = request.right;
  // The answers of a batch are files.
  const storage = { isStored: isStored && call.batchId === null, previousResponseId };
  const isAsItCame = !isStored && previousResponseId === null;
  const text = responsesTextRequest(expanded.right.request, isAsItCame ? null : storage);
  const keeper = new ResponseKeeper(call, request.right, expanded.right, storage);
  return relayRequest({
    endpoint: { operation: 'responses', protocol: openAiResponses },
    call,
    request: text,
    ...(isAsItCame ? {} : { finish: keeper.finish }),
  });
}

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

/** Stores the response of one call before its last bytes leave. */
class ResponseKeeper {
  readonly #call: GatewayCall;
  readonly #request: ResponsesRequest;
  readonly #expanded: ExpandedRequest;
  readonly #storage: StorageMembers;

  /** @param request as the client sent it */
  constructor(call: GatewayCall, request: ResponsesRequest, expanded: ExpandedRequest, storage: StorageMembers) {
    this.#call = call;
    this.#request = request;
    this.#expanded = expanded;
    this.#storage = storage;
  }

  readonly finish: FinishAnswer = async (last, head) => {
    const answer = this.#request.isStreamed ? last : rewriteResponse(last, this.#storage);
    if (!this.#storage.isStored) return answer;
    const text = this.#request.isStreamed ? dataIn(answer) : answer.toString();
    const response = responseIn(text);
    if (response !== null && (await this.#store(response, head))) return answer;
    const notStored = { ...this.#storage, isStored: false };
    if (!this.#request.isStreamed) return rewriteResponse(answer, notStored);
    return Buffer.from(answer.toString().replace(text, () => rewriteEvent(text, notStored)));
  };

  /** @returns whether it is stored: an answer that nobody has, or that failed, is not */
  async #store(response: JsonObject, head: ResponseHead): Promise<boolean> {
    const { gateway, caller, response: sink } = this.#call;
    if (sink.isDisconnected || (response.status !== 'completed' && response.status !== 'incomplete')) return false;
    const input = await this.#ownInput();
    if (input === null) return false;
    const { previous, referenced } = this.#expanded;
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : [];
    const made = [...output, ...input.filter(({ type }) => type !== 'item_reference')];
    try {
      return await gateway.responses.add({
        projectId: caller.projectId,
        input,
        response,
        provider: head.translator === null ? head.provider : null,
        previous,
        referenced,
        itemIds: made.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
      });
    } catch (error) {
      gateway.log.warn({ error: String(error) }, 'A response could not be stored');
      return false;
    }
  }

  /** The items of the request itself; null for more than can be read in one turn of the event loop. */
  async #ownInput(): Promise<ReadonlyArray<JsonObject> | null> {
    const { bytes, members, values } = this.#request;
    const input = lastMember(members, 'input');
    if (input === undefined) return [];
    if (values > maxTranslatedValues) return null;
    if (input.end - input.valueStart > largeBodyBytes) await heavyWork.take(1);
    return ownItems(parsedJson(bytes.subarray(input.valueStart, input.end)));
  }
}

const dataLine = '\ndata: ';

/** The data of the last event. A line feed is in no JSON text, so none is inside of it. */
function dataIn(events: Buffer): string {
  const text = events.toString();
  return text.slice(text.lastIndexOf(dataLine) + dataLine.length).trimEnd();
}

/** The response in an answer, or in an event. */
function responseIn(text: string): JsonObject | null {
  const value = parsedJson(text);
  if (!isObject(value)) return null;
  const response = isObject(value.response) ? value.response : value;
  return typeof response.id === 'string' ? response : null;
}
