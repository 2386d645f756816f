import type { ByteReservation } from '#exchange/byte-budget.ts';
import type { ResponseSink } from '#exchange/response-sink.ts';
import { type AttemptFailure, malformed, refusalInBody, unfinished } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { HeldBody } from '#gateway/attempt/held-body.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { audioSecondsIn, providerErrorIn, tokensIn } from '#gateway/neutral/provider-report.ts';
import type { TranslatedBody } from '#gateway/providers/provider.ts';
import { isObject, type JsonObject, parsedJson } from '#shared/json/json.ts';
import {
  createResponseHeaders,
  type FinishAnswer,
  heldContent,
  type PrepareAnswer,
  type ResponseHandler,
  type ResponseHead,
} from './response-handler.ts';

export interface WholeResponseOptions {
  readonly response: ResponseSink;
  /** Counts the bytes that are held. */
  readonly answerHold: ByteReservation;
  /** The member that a JSON answer must have; null if the answer may be of any kind. */
  readonly requiredMember: string | null;
  /** Missing if nothing is to be done before it is sent. */
  readonly prepare?: PrepareAnswer;
  /** Missing if the answer is sent at once. */
  readonly finish?: FinishAnswer;
}

/** Holds an answer until it is complete, so that another attempt can replace one that breaks. */
export class WholeResponse implements ResponseHandler {
  readonly #options: WholeResponseOptions;
  hasBegun = false;
  /** It has its usage in it. */
  readonly isAwaitingUsage = false;
  /** Only for `HeldAnswer`: sends an answer that is complete; null if none waits. */
  waiting: (() => Promise<void>) | null = null;

  constructor(options: WholeResponseOptions) {
    this.#options = options;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    return new HeldAnswer(this, this.#options, head, attempt);
  }

  continuation(): null {
    return null;
  }

  abort(): void {
    // It begins and ends at once: there is nothing to break off.
  }

  async deliver(): Promise<void> {
    await this.waiting?.();
    this.waiting = null;
  }
}

/** The answer of one attempt. */
class HeldAnswer implements BodyConsumer {
  readonly #whole: WholeResponse;
  readonly #options: WholeResponseOptions;
  readonly #head: ResponseHead;
  readonly #attempt: AttemptControl;
  readonly #held: HeldBody;
  #reported: ReportedConsumption = nothingReported;
  /** Its value; null if it is not JSON. */
  #parsed: JsonObject | null = null;
  #isOver = false;

  constructor(whole: WholeResponse, options: WholeResponseOptions, head: ResponseHead, attempt: AttemptControl) {
    this.#whole = whole;
    this.#options = options;
    this.#head = head;
    this.#attempt = attempt;
    this.#held = new HeldBody(attempt, options.answerHold);
  }

  /** Its usage, which its body reports. */
  reported(): ReportedConsumption {
    return this.#reported;
  }

  onData(chunk: Buffer): void {
    this.#held.take(chunk);
  }

  onEnd(): void {
    const answer = this.#translated();
    if (isFailure(answer)) this.#settle(answer);
    else this.#send(answer);
  }

  onAbort(): void {
    this.#isOver = true;
    this.#whole.waiting = null;
    this.#options.answerHold.resize(0);
  }

  /** Returns what the client gets, or why it gets nothing. */
  #translated(): TranslatedBody | AttemptFailure {
    const { headers, translator } = this.#head;
    const body = heldContent(this.#head, this.#held.bytes);
    if (body === null) return malformed;
    const contentType = headers['content-type'] ?? 'application/octet-stream';
    const failure = this.#check(contentType, body);
    if (failure !== null) return failure;
    const translate = translator?.translate;
    return translate === undefined ? { contentType, body } : (translate(body, this.#parsed) ?? malformed);
  }

  #check(contentType: string, body: Buffer): AttemptFailure | null {
    const requiredMember = this.#head.translator?.requiredMember ?? this.#options.requiredMember;
    if (requiredMember === null && !/[/+]json\b/i.test(contentType)) return body.length > 0 ? null : unfinished;
    const value = parsedJson(body);
    if (!isObject(value)) return malformed;
    const error = requiredMember !== null && value[requiredMember] !== undefined ? null : providerErrorIn(value);
    if (error !== null) return refusalInBody(error);
    if (requiredMember !== null && value[requiredMember] === undefined) return malformed;
    this.#parsed = value;
    this.#reported = { tokens: tokensIn(value.usage), audioSeconds: audioSecondsIn(value) };
    return null;
  }

  /** Sends an answer, or lets it wait for what is done before the client has it. */
  #send({ contentType, body }: TranslatedBody): void {
    const { response, prepare, finish, answerHold } = this.#options;
    const { status } = this.#head;
    const headers = createResponseHeaders(this.#head, contentType, this.#reported);
    if (prepare === undefined && finish === undefined) response.send(status, headers, body);
    else
      this.#whole.waiting = async () => {
        const finished = finish === undefined ? body : await finish(body, this.#head);
        response.send(status, headers, finished);
        answerHold.resize(0);
      };
    if (prepare === undefined) this.#settle(null);
    else this.#prepare(prepare, body);
  }

  #prepare(prepare: PrepareAnswer, body: Buffer): void {
    this.#attempt.pause();
    void prepare(body, this.#head).then((failure) => this.#settle(failure));
  }

  #settle(failure: AttemptFailure | null): void {
    if (this.#isOver) return;
    const whole = this.#whole;
    whole.hasBegun = failure === null;
    if (failure !== null) whole.waiting = null;
    if (whole.waiting === null) this.#options.answerHold.resize(0);
    if (failure === null) this.#attempt.complete();
    else this.#attempt.fail(failure);
  }
}

function isFailure(answer: TranslatedBody | AttemptFailure): answer is AttemptFailure {
  return 'kind' in answer;
}
