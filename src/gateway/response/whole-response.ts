import type { ByteReservation } from '#exchange/byte-budget.ts';
import type { ResponseSink } from '#exchange/response-sink.ts';
import { type AttemptFailure, malformed, refusalInBody, unfinished } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { HeldBody } from '#gateway/attempt/held-body.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { audioSecondsIn, providerErrorIn, tokensIn } from '#gateway/neutral/provider-report.ts';
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

/** What is read of an answer while it is checked. */
interface CheckedAnswer {
  /** Its usage, which its body reports. */
  reported: ReportedConsumption;
  /** Its value; null if it is not JSON. */
  parsed: JsonObject | null;
  /** What the client gets; null before it is made. */
  body: Buffer | null;
}

/** Holds an answer until it is complete, so that another attempt can replace one that breaks. */
export class WholeResponse implements ResponseHandler {
  readonly #options: WholeResponseOptions;
  hasBegun = false;
  /** It has its usage in it. */
  readonly isAwaitingUsage = false;
  #waiting: (() => Promise<void>) | null = null;

  constructor(options: WholeResponseOptions) {
    this.#options = options;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    const { answerHold, prepare } = this.#options;
    const held = new HeldBody(attempt, answerHold);
    let isOver = false;
    const checked: CheckedAnswer = { reported: nothingReported, parsed: null, body: null };
    const settle = (failure: AttemptFailure | null): void => {
      if (isOver) return;
      this.hasBegun = failure === null;
      if (failure !== null) this.#waiting = null;
      if (this.#waiting === null) answerHold.resize(0);
      if (failure === null) attempt.complete();
      else attempt.fail(failure);
    };
    return {
      reported: () => checked.reported,
      onData: (chunk) => held.take(chunk),
      onEnd: () => {
        const failure = this.#take(head, held.bytes, checked);
        if (failure !== null || prepare === undefined || checked.body === null) return settle(failure);
        attempt.pause();
        void prepare(checked.body, head).then(settle);
      },
      onAbort: () => {
        isOver = true;
        this.#waiting = null;
        answerHold.resize(0);
      },
    };
  }

  continuation(): null {
    return null;
  }

  abort(): void {
    // It begins and ends at once: there is nothing to break off.
  }

  async deliver(): Promise<void> {
    await this.#waiting?.();
    this.#waiting = null;
  }

  #take(head: ResponseHead, sent: Buffer, checked: CheckedAnswer): AttemptFailure | null {
    const { response, prepare, finish, answerHold } = this.#options;
    const body = heldContent(head, sent);
    if (body === null) return malformed;
    const contentType = head.headers['content-type'] ?? 'application/octet-stream';
    const failure = this.#check(head, contentType, body, checked);
    if (failure !== null) return failure;
    const translate = head.translator?.translate;
    const translated = translate === undefined ? { contentType, body } : translate(body, checked.parsed);
    if (translated === null) return malformed;
    const headers = [
      ...createResponseHeaders(head, translated.contentType),
      ...(head.costHeader?.(checked.reported) ?? []),
    ];
    checked.body = translated.body;
    if (prepare === undefined && finish === undefined) response.send(head.status, headers, translated.body);
    else
      this.#waiting = async () => {
        const body = finish === undefined ? translated.body : await finish(translated.body, head);
        response.send(head.status, headers, body);
        answerHold.resize(0);
      };
    return null;
  }

  #check(
    { translator }: ResponseHead,
    contentType: string,
    body: Buffer,
    checked: CheckedAnswer,
  ): AttemptFailure | null {
    const requiredMember = translator?.requiredMember ?? this.#options.requiredMember;
    if (requiredMember === null && !/[/+]json\b/i.test(contentType)) return body.length > 0 ? null : unfinished;
    const value = parsedJson(body);
    if (!isObject(value)) return malformed;
    const error = requiredMember !== null && value[requiredMember] !== undefined ? null : providerErrorIn(value);
    if (error !== null) return refusalInBody(error);
    if (requiredMember !== null && value[requiredMember] === undefined) return malformed;
    checked.parsed = value;
    checked.reported = { tokens: tokensIn(value.usage), audioSeconds: audioSecondsIn(value) };
    return null;
  }
}
