import * as E from 'fp-ts/lib/Either.js';
import { failure } from '#domain/shared/failure.ts';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { CallResult, GatewayCall } from '#gateway/gateway-call.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { ResponsesStream, RewrittenResponsesStream } from '#gateway/protocols/openai-responses/responses-stream.ts';
import { lastDataIn, responseIn, rewriteResponse } from '#gateway/protocols/openai-responses/rewrite-response.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import type { Keeper } from '#gateway/relay/keeper.ts';
import { relay } from '#gateway/relay/relay.ts';
import { outgoingThrough } from '#gateway/relay/requests.ts';
import { errorResponseFor, sendError } from '#gateway/response/error-response.ts';
import { redactEventErrors } from '#gateway/response/errors-inside.ts';
import { EventStreamResponse } from '#gateway/response/event-stream-response.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';
import type { ProjectGeneration } from '#responses/recent-keys.ts';
import type { BackgroundTarget, ResponseOutline } from '#responses/response-store.ts';
import type { FinishOutcome } from '#responses/stored-responses.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import { isFinished, type ResolvedTarget, resolveTarget } from './background-target.ts';
import { outputNames } from './item-names.ts';
import { cleanUpLater } from './provider-copy.ts';

interface BackgroundRequest {
  readonly action: 'get' | 'cancel';
  readonly isStreamed: boolean;
  /** The query without a question mark; empty for none. */
  readonly query: string;
  /** Answers if another call has stored the end of the response meanwhile. */
  readonly answerFrom: (stored: KeptTurn) => CallResult | Promise<CallResult>;
}

/**
 * Relays a stored response. An answer with the finished one is stored, its usage is recorded, and the provider's copy
 * is deleted.
 */
export async function relayBackground(
  call: GatewayCall,
  turn: KeptTurn,
  request: BackgroundRequest,
): Promise<CallResult> {
  const { background } = turn.outline;
  const resolved = background === null ? null : resolveTarget(call, background);
  if (resolved === null) return E.left(targetGone);
  const generation = await call.gateway.responses.beginCall(call.caller.projectId);
  return new BackgroundRelay(call, turn, { ...resolved, generation }).run(request);
}

const gone = failure('response-not-found', 'The response was deleted meanwhile.');
const targetGone = failure(
  'no-provider',
  'The target that makes this response is not in the configuration any more. Tell the operator.',
);

/** A target, with the generation of the project when the call began. */
interface BegunTarget extends ResolvedTarget {
  readonly generation: ProjectGeneration;
}

class BackgroundRelay {
  readonly #call: GatewayCall;
  readonly #turn: KeptTurn;
  readonly #resolved: BegunTarget;
  /** How the finished response was stored; null while it is not finished. */
  #stored: FinishOutcome | null = null;
  /** Whether this answer has the usage, which no other one has recorded. */
  #isFirstWithUsage = false;
  /** The response, if another call has stored its end since this one found it unfinished. */
  #storedMeanwhile: ResponseOutline | null = null;

  constructor(call: GatewayCall, turn: KeptTurn, resolved: BegunTarget) {
    this.#call = call;
    this.#turn = turn;
    this.#resolved = resolved;
  }

  async run({ action, isStreamed, query, answerFrom }: BackgroundRequest): Promise<CallResult> {
    const { provider, route } = this.#resolved;
    const { id } = this.#turn.outline;
    const asked = query === '' ? '' : `?${query}`;
    const report = await relay(
      { ...this.#call, recordedAs: 'responses', isMadeInSilence: false, input: { isStreamed } },
      {
        route,
        requests: {
          canServe: () => true,
          requestFor: () => {
            const made = provider.backgroundResponse({ action, id, query: asked, streams: isStreamed });
            return outgoingThrough(provider, { request: made, translator: null });
          },
        },
        responder: this.#createHandler(isStreamed),
        keeper: { beforeLastByte: this.#beforeLastByte(isStreamed), afterCall: this.#afterCall },
        takeOver: this.#takeOver,
      },
    );
    if (this.#storedMeanwhile !== null) return this.#answer(this.#storedMeanwhile, answerFrom);
    return E.right(report);
  }

  /**
   * Takes over an answer. A call that stores the end of a response deletes the provider's copy. This one may then not
   * find it there.
   */
  readonly #takeOver = async (failure: AttemptFailure): Promise<boolean> => {
    if (failure.kind !== 'refused' || failure.status !== 404) return false;
    const { projectId, id } = this.#turn.outline;
    try {
      const outline = await this.#call.gateway.responses.turns.findOutline(projectId, id);
      if (outline?.background === null) this.#storedMeanwhile = outline;
    } catch (error) {
      this.#call.gateway.log.warn({ error: errorText(error) }, 'A response could not be looked up again');
    }
    return this.#storedMeanwhile !== null;
  };

  async #answer(stored: ResponseOutline, answerFrom: BackgroundRequest['answerFrom']): Promise<CallResult> {
    const refusal = this.#call.gateway.admission.bytes(this.#call.held, 'answer', stored.bytes);
    if (refusal !== null) return E.left(refusal);
    const turn = await this.#call.gateway.responses.turns.read(stored);
    return turn === null ? E.left(gone) : answerFrom(turn);
  }

  /** Only the answer that finishes the response has a usage that was not recorded. */
  readonly #afterCall = (record: CallRecord): CallRecord | null => {
    const { gateway, caller } = this.#call;
    const { route, target } = this.#resolved;
    const copy = { projectId: caller.projectId, id: this.#turn.outline.id, model: route.name, target: target.id };
    if (this.#stored === 'stored') cleanUpLater(gateway, copy, true);
    return this.#isFirstWithUsage ? record : null;
  };

  #createHandler(isStreamed: boolean): WholeResponse | EventStreamResponse {
    const { client: response, held } = this.#call;
    const answerHold = held.answer;
    if (!isStreamed) return new WholeResponse({ response, answerHold, requiredMember: 'output', isParsed: true });
    return new EventStreamResponse({
      response,
      call: this.#call,
      answerHold: held.answer,
      createInterpreter: ({ redactor }) =>
        new RewrittenResponsesStream({
          storage: this.#storage,
          frame: null,
          redactErrors: (data) => redactEventErrors(data, redactor),
        }),
      isHeldWhole: false,
      signOfLife: openAiResponses.client.signOfLife,
      failedStream: (error) => new ResponsesStream(null).errorEvent(error),
      repeatedBytes: this.#turn.outline.bytes,
    });
  }

  get #storage() {
    return { isStored: true, previousResponseId: this.#turn.outline.previous };
  }

  #beforeLastByte(isStreamed: boolean): NonNullable<Keeper['beforeLastByte']> {
    return async ({ bytes }) => {
      const answer = isStreamed ? bytes : await rewriteResponse(bytes, this.#storage);
      await this.#store(isStreamed ? lastDataIn(answer) : answer.toString());
      return answer;
    };
  }

  async #store(text: string): Promise<void> {
    const response = responseIn(text);
    const { projectId, id } = this.#turn.outline;
    if (response === null || response.id !== id || !isFinished(response)) return;
    const [inputText, responseText] = [this.#turn.text.input.toString(), JSON.stringify(response)];
    const names = outputNames(response);
    const { gateway } = this.#call;
    try {
      this.#isFirstWithUsage = await gateway.responses.copies.count(projectId, id);
      this.#stored = await gateway.responses.finish(
        { projectId, id, inputText, responseText, names },
        this.#resolved.generation,
      );
    } catch (error) {
      gateway.log.warn(
        { error: errorText(error) },
        'The end of a response could not be stored. The next reading tries again.',
      );
    }
  }
}

/** The reason why a provider did not delete a response. */
export function sendRefusal(call: GatewayCall, { target }: BackgroundTarget, refused: AttemptFailure): CallResult {
  const error = errorResponseFor(refused, call);
  sendError(call.client, error);
  return E.right({ kind: 'relayed', status: null, code: error.code, model: null, target, attempts: 1 });
}
