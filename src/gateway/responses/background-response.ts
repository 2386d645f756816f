import * as E from 'fp-ts/lib/Either.js';
import { failure } from '#domain/shared/failure.ts';
import { answersFull } from '#exchange/byte-budget.ts';
import { Attempt } from '#gateway/attempt/attempt.ts';
import { type AttemptFailure, redactRefusal } from '#gateway/attempt/attempt-failure.ts';
import { Deadline } from '#gateway/attempt/deadline.ts';
import type { ModelRoute, WeightedTarget } from '#gateway/config/catalogue.ts';
import type { CallResult, GatewayCall } from '#gateway/gateway-call.ts';
import { RewrittenResponsesStream } from '#gateway/protocols/openai-responses/responses-stream.ts';
import { lastDataIn, responseIn, rewriteResponse } from '#gateway/protocols/openai-responses/rewrite-response.ts';
import type { Provider } from '#gateway/providers/provider.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { outgoingThrough } from '#gateway/relay/create-call-record.ts';
import { relay } from '#gateway/relay/relay.ts';
import { errorResponseFor, sendError } from '#gateway/response/error-response.ts';
import { EventStreamResponse } from '#gateway/response/event-stream-response.ts';
import type { FinishAnswer } from '#gateway/response/response-handler.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';
import type { BackgroundTarget } from '#responses/response-store.ts';
import type { KeptTurn } from '#responses/turn.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { outputNames } from './item-names.ts';

/** A `BackgroundTarget`, as the current configuration has it. */
interface ResolvedTarget {
  readonly provider: Provider & Required<Pick<Provider, 'backgroundResponse'>>;
  /** A route to its target alone. */
  readonly route: ModelRoute;
  readonly target: WeightedTarget;
}

/** What is passed on to the provider of a response. */
export interface BackgroundRequest {
  readonly action: 'get' | 'cancel';
  readonly isStreamed: boolean;
  /** Without a question mark; empty for none. */
  readonly query: string;
  /** Answers with the response if another call has stored its end meanwhile. */
  readonly answerFrom: (stored: KeptTurn) => CallResult;
}

const endings: ReadonlyArray<Json | undefined> = ['completed', 'incomplete', 'failed', 'cancelled'];

/** Whether nothing will change a response any more. */
export function isFinished({ status }: JsonObject): boolean {
  return endings.includes(status);
}

/**
 * Passes a request about a response that is made in the background on to its provider. An answer with the finished
 * response is stored, its usage is recorded, and the provider's copy is deleted.
 */
export async function relayBackground(
  call: GatewayCall,
  turn: KeptTurn,
  request: BackgroundRequest,
): Promise<CallResult> {
  const { background } = turn.outline;
  const resolved = background === null ? null : resolveTarget(call, background);
  return resolved === null ? E.left(targetGone) : new BackgroundRelay(call, turn, resolved).run(request);
}

const targetGone = failure(
  'no-provider',
  'The target that makes this response is not in the configuration any more. Tell the operator.',
);

class BackgroundRelay {
  readonly #call: GatewayCall;
  readonly #turn: KeptTurn;
  readonly #resolved: ResolvedTarget;
  /** How the finished response was stored; null while it is not finished. */
  #stored: 'stored' | 'before' | 'too-large' | null = null;
  /** Whether this answer has the usage, which no other one has recorded. */
  #isFirstWithUsage = false;
  /** The response, if another call has stored its end since this one found it unfinished. */
  #storedMeanwhile: KeptTurn | null = null;

  constructor(call: GatewayCall, turn: KeptTurn, resolved: ResolvedTarget) {
    this.#call = call;
    this.#turn = turn;
    this.#resolved = resolved;
  }

  async run({ action, isStreamed, query, answerFrom }: BackgroundRequest): Promise<CallResult> {
    const { caller, requestId, errors, response, gateway } = this.#call;
    const { provider, route, target } = this.#resolved;
    const { id } = this.#turn.outline;
    const asked = query === '' ? '' : `?${query}`;
    const report = await relay(
      {
        operation: 'responses',
        caller,
        requestId,
        errors,
        batchId: null,
        isStreamed,
        characters: null,
        startedAt: performance.now(),
        route,
        response,
        responseHandler: this.#createHandler(isStreamed),
        canServe: () => true,
        takeOver: this.#takeOver,
        requestFor: () => {
          const made = provider.backgroundResponse({ action, id, query: asked, streams: isStreamed });
          return outgoingThrough(provider, { request: made, translator: null });
        },
      },
      { ...gateway.relayDependencies, usage: { record: this.#record } },
    );
    if (this.#storedMeanwhile !== null) return this.#answer(this.#storedMeanwhile, answerFrom);
    if (this.#stored === 'stored')
      await deleteAtProvider(this.#call, { model: route.name, target: target.id }, id, maxCleanUpMs);
    return E.right(report);
  }

  /** A call that stores the end of a response deletes the provider's copy. This one may then not find it there. */
  readonly #takeOver = async (failure: AttemptFailure): Promise<boolean> => {
    if (failure.kind !== 'refused' || failure.status !== 404) return false;
    const { projectId, id } = this.#turn.outline;
    try {
      const turn = await this.#call.gateway.responses.find(projectId, id);
      if (turn?.outline.background === null) this.#storedMeanwhile = turn;
    } catch (error) {
      this.#call.gateway.log.warn({ error: String(error) }, 'A response could not be looked up again');
    }
    return this.#storedMeanwhile !== null;
  };

  #answer(stored: KeptTurn, answerFrom: BackgroundRequest['answerFrom']): CallResult {
    return this.#call.answerHold.takeBegun(stored.outline.bytes) ? answerFrom(stored) : E.left(answersFull);
  }

  /** Records the usage of the answer that finishes the response: others have none, or were recorded. */
  readonly #record = (record: CallRecord): void => {
    if (this.#isFirstWithUsage) this.#call.gateway.relayDependencies.usage.record(record);
  };

  #createHandler(isStreamed: boolean): WholeResponse | EventStreamResponse {
    const { response, answerHold } = this.#call;
    if (!isStreamed)
      return new WholeResponse({ response, answerHold, requiredMember: 'output', finish: this.#storeWhole });
    return new EventStreamResponse({
      response,
      call: this.#call,
      answerHold,
      createInterpreter: () => new RewrittenResponsesStream(this.#storage, true),
      isHeldWhole: false,
      finish: this.#storeStream,
    });
  }

  get #storage() {
    return { isStored: true, previousResponseId: this.#turn.outline.previous };
  }

  readonly #storeWhole: FinishAnswer = async (body) => {
    const answer = rewriteResponse(body, this.#storage);
    await this.#store(answer.toString());
    return answer;
  };

  readonly #storeStream: FinishAnswer = async (last) => {
    await this.#store(lastDataIn(last));
    return last;
  };

  async #store(text: string): Promise<void> {
    const response = responseIn(text);
    const { projectId, id, items } = this.#turn.outline;
    if (response === null || response.id !== id || !isFinished(response)) return;
    const [inputText, responseText] = [JSON.stringify(this.#turn.input), JSON.stringify(response)];
    const names = [...outputNames(response), ...items];
    const { gateway } = this.#call;
    try {
      this.#isFirstWithUsage = await gateway.responses.count(projectId, id);
      this.#stored = await gateway.responses.finish({ projectId, id, inputText, responseText, names });
    } catch (error) {
      gateway.log.warn(
        { error: String(error) },
        'The end of a response could not be stored. The next reading tries again.',
      );
    }
  }
}

/** Answers with the reason why a provider did not delete a response. */
export function sendRefusal(call: GatewayCall, { target }: BackgroundTarget, refused: AttemptFailure): CallResult {
  const error = errorResponseFor(refused, call);
  sendError(call.response, error);
  return E.right({ kind: 'relayed', status: null, code: error.code, model: null, target, attempts: 1 });
}

/** How long a call whose client has its answer may wait for a provider. */
export const maxCleanUpMs = 5_000;

/**
 * Deletes the provider's copy of a response. One that is not there, or whose target is not in the configuration, counts as
 * deleted.
 * @param maxMs the limit of its time; without it, that of the target's calls
 * @returns why it is not deleted; null if it is
 */
export async function deleteAtProvider(
  call: GatewayCall,
  background: BackgroundTarget,
  id: string,
  maxMs?: number,
): Promise<AttemptFailure | null> {
  const failed = await askOnce(call, background, { action: 'delete', id }, maxMs);
  if (failed === null || (failed.kind === 'refused' && failed.status === 404)) return null;
  call.gateway.log.warn({ target: background.target, kind: failed.kind }, 'A provider did not delete a response');
  return failed;
}

/** Cancels a response that nobody can read any more, after its client has an answer. A failure is logged. */
export async function cancelAtProvider(call: GatewayCall, background: BackgroundTarget, id: string): Promise<void> {
  const failed = await askOnce(call, background, { action: 'cancel', id }, maxCleanUpMs);
  if (failed === null) return;
  call.gateway.log.warn({ target: background.target, kind: failed.kind }, 'A provider did not cancel a response');
}

async function askOnce(
  call: GatewayCall,
  background: BackgroundTarget,
  { action, id }: { readonly action: 'cancel' | 'delete'; readonly id: string },
  maxMs = Number.POSITIVE_INFINITY,
): Promise<AttemptFailure | null> {
  const resolved = resolveTarget(call, background);
  if (resolved === null) return null;
  const { provider, target } = resolved;
  const attempt = new Attempt(target.timeouts, (_status, _headers, control) => ({
    onData: () => control.markContent(),
    onEnd: () => control.complete(),
  }));
  const total = new Deadline(() => attempt.expire());
  total.set(Math.min(target.timeouts.totalMs, maxMs));
  attempt.start(provider.transport, provider.backgroundResponse({ action, id, query: '', streams: false }));
  const outcome = await attempt.outcome;
  total.clear();
  if (outcome.kind !== 'failed') return null;
  const { failure: failed } = outcome;
  return failed.kind === 'refused' && provider.redactor !== undefined
    ? redactRefusal(failed, provider.redactor)
    : failed;
}

function resolveTarget({ configuration }: GatewayCall, { model, target: id }: BackgroundTarget): ResolvedTarget | null {
  const models = configuration.catalogue.models();
  for (const route of [...models.filter(({ name }) => name === model), ...models]) {
    const target = [...route.targets, ...route.fallbacks].find((each) => each.id === id);
    const provider = target === undefined ? undefined : configuration.providers.get(target.provider);
    if (target === undefined || !answersInBackground(provider)) continue;
    const alone = { ...target, weight: 1 };
    return { provider, target: alone, route: { ...route, targets: [alone], fallbacks: [] } };
  }
  return null;
}

function answersInBackground(provider: Provider | undefined): provider is ResolvedTarget['provider'] {
  return provider?.backgroundResponse !== undefined;
}
