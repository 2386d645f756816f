import type { ByteReservation } from '#exchange/byte-budget.ts';
import type { Client } from '#exchange/client.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import {
  type AttemptFailure,
  malformed,
  noRoom,
  refusalInBody,
  tooLarge,
  unfinished,
  unreadable,
} from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import {
  type ForeignJson,
  ForeignJsonScan,
  noRoomForJson,
  parseForeign,
  parseForeignInTurns,
  tooLargeJson,
} from '#gateway/framing/foreign-json.ts';
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { readLargeJsonMembers } from '#gateway/framing/large-json-members.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import {
  audioSecondsIn,
  errorOfChoices,
  providerErrorIn,
  reportMembers,
  usageIn,
} from '#gateway/neutral/provider-report.ts';
import type { TranslatedBody } from '#gateway/providers/provider.ts';
import { isPlain } from '#gateway/transport/transport.ts';
import type { WorkOwner } from '#shared/async/fair-queue.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import { hasErrors, redactErrors } from './errors-inside.ts';
import {
  createRelayedHeaders,
  heldContent,
  isNamedJson,
  jsonTypeOf,
  type ResponseHandler,
  type ResponseHead,
} from './response-handler.ts';

interface WholeResponseOptions {
  readonly response: Client;
  readonly answerHold: ByteReservation;
  /** The member of a JSON answer; null if the answer may be of any kind. */
  readonly requiredMember: string | null;
  /** True if the whole answer becomes values. Other answers may have any number of values. Default false. */
  readonly isParsed?: boolean;
}

/** Holds an answer until it is complete, so that another attempt can replace one that breaks. */
export class WholeResponse implements ResponseHandler {
  readonly #options: WholeResponseOptions;
  hasBegun = false;
  /** False, because the answer has its usage in it. */
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
    // It begins and ends in one step: there is nothing to break off.
  }

  /** Sends an answer that waits. @throws what the work before it throws; the client has nothing of the answer then */
  async deliver(): Promise<void> {
    const send = this.waiting;
    this.waiting = null;
    this.hasBegun = false;
    await send?.();
    this.hasBegun = true;
  }
}

/** Maximum size of a translated answer. A translation takes a few turns of the event loop. */
export const maxTranslatedBytes = 8 * 1024 * 1024;

/** Holds the answer of one attempt. Its reading waits for turns until the attempt is over. */
class HeldAnswer implements BodyConsumer, WorkOwner {
  readonly owner: string;
  readonly #whole: WholeResponse;
  readonly #options: WholeResponseOptions;
  readonly #head: ResponseHead;
  readonly #attempt: AttemptControl;
  readonly #held: HeldBody;
  readonly #requiredMember: string | null;
  readonly #isJson: boolean;
  /** True if all JSON becomes values, because it is translated or kept. */
  readonly #isParsed: boolean;
  readonly #contentType: string;
  #valueBytes = 0;
  #reported: ReportedConsumption = nothingReported;
  #isOver = false;

  constructor(whole: WholeResponse, options: WholeResponseOptions, head: ResponseHead, attempt: AttemptControl) {
    const { headers, translator, keeping } = head;
    this.#whole = whole;
    this.#options = options;
    this.#head = head;
    this.#attempt = attempt;
    this.#requiredMember = translator?.requiredMember ?? options.requiredMember;
    this.#isJson = isNamedJson(head) || this.#requiredMember !== null || translator?.translate !== undefined;
    this.#isParsed =
      options.isParsed === true || keeping.beforeFirstByte !== null || translator?.translate !== undefined;
    this.#contentType = this.#isJson ? jsonTypeOf(head) : (headers['content-type'] ?? 'application/octet-stream');
    this.owner = options.answerHold.projectId;
    this.#held = new HeldBody(attempt, options.answerHold, this.#isParsed && isPlain(headers));
  }

  get hasLeft(): boolean {
    return this.#isOver;
  }

  reported(): ReportedConsumption {
    return this.#reported;
  }

  onData(chunk: Buffer): void {
    this.#held.take(chunk);
  }

  onEnd(): void {
    const body = heldContent(this.#head, this.#held.bytes);
    if (body === null) this.#settle(malformed);
    else if (!this.#isJson) this.#finish(body.length > 0 ? { contentType: this.#contentType, body } : unfinished);
    else if (body.length > largeBodyBytes) void this.#readInTurns(body, this.#parseLarge(body));
    else this.#readSmall(body, parseForeign(body));
  }

  #readSmall(body: Buffer, value: ForeignJson): void {
    if (hasErrors(value)) void this.#readInTurns(body, value);
    else this.#finish(this.#read(body, value));
  }

  onAbort(): void {
    this.#isOver = true;
    this.#whole.waiting = null;
    this.#options.answerHold.resize(0);
  }

  #parseLarge(body: Buffer): Promise<ForeignJson | typeof noRoomForJson> {
    return parseForeignInTurns(body, { held: this, scan: this.#held.scan, reserve: this.#reserveValues });
  }

  readonly #reserveValues = (bytes: number): boolean => {
    if (this.#isOver || !this.#options.answerHold.takeBegun(bytes)) return false;
    this.#valueBytes = bytes;
    return true;
  };

  #giveValuesBack(): void {
    this.#options.answerHold.giveBack(this.#valueBytes);
    this.#valueBytes = 0;
  }

  async #readInTurns(sent: Buffer, parsing: ForeignJson | Promise<ForeignJson | typeof noRoomForJson>): Promise<void> {
    this.#attempt.pause();
    try {
      const parsed = await parsing;
      const mayBeScanned = !this.#isParsed && (parsed === tooLargeJson || parsed === noRoomForJson);
      const value = mayBeScanned ? await this.#readReport(sent) : parsed;
      if (value === noRoomForJson) return this.#settle(noRoom);
      const body = await this.#redact(sent, value);
      await turn(this, 'answer', sent.length);
      if (this.#isOver) return;
      const read = body === null ? tooLarge : this.#read(body, value);
      this.#giveValuesBack();
      this.#finish(read);
    } catch (error) {
      this.#settle(unreadable(error));
    }
  }

  /**
   * Removes secrets from an answer that passes although it has errors inside of it.
   * @returns null if they are too many
   */
  async #redact(body: Buffer, value: ForeignJson): Promise<Buffer | null> {
    const { redactor } = this.#head;
    return redactor === null || !hasErrors(value) ? body : redactErrors(body, redactor, this);
  }

  #readReport(body: Buffer): Promise<ForeignJson> {
    const required = this.#requiredMember === null ? [] : [this.#requiredMember];
    return readLargeJsonMembers(body, [...reportMembers, ...required], this);
  }

  /** Returns what the client gets, or why it gets nothing. */
  #read(body: Buffer, value: ForeignJson): TranslatedBody | AttemptFailure {
    const failure = this.#check(value);
    if (failure !== null) return failure;
    const translate = this.#head.translator?.translate;
    if (translate === undefined) return { contentType: this.#contentType, body };
    const error = errorOfChoices(value as JsonObject);
    if (error !== null) return refusalInBody(error);
    if (body.length > maxTranslatedBytes) return tooLarge;
    const translated = translate(body, value as JsonObject);
    this.#reported = { ...this.#reported, tokens: translated?.tokens ?? this.#reported.tokens };
    return translated ?? malformed;
  }

  #check(value: ForeignJson): AttemptFailure | null {
    if (value === tooLargeJson) return tooLarge;
    if (!isObject(value)) return malformed;
    const requiredMember = this.#requiredMember;
    const error = requiredMember !== null && value[requiredMember] !== undefined ? null : providerErrorIn(value);
    if (error !== null) return refusalInBody(error);
    if (requiredMember !== null && value[requiredMember] === undefined) return malformed;
    this.#reported = { tokens: usageIn(value), audioSeconds: audioSecondsIn(value) };
    return null;
  }

  #finish(answer: TranslatedBody | AttemptFailure): void {
    if (isFailure(answer)) this.#settle(answer);
    else this.#send(answer);
  }

  /** Sends the answer, which may wait for what is done before the client has it. */
  #send({ contentType, body }: TranslatedBody): void {
    const { response, answerHold } = this.#options;
    const { status, keeping } = this.#head;
    const { beforeFirstByte, beforeLastByte } = keeping;
    const headers = createRelayedHeaders(this.#head, contentType, this.#reported);
    if (beforeFirstByte === null && beforeLastByte === null) response.send(status, headers, body);
    else
      this.#whole.waiting = async () => {
        try {
          response.send(status, headers, beforeLastByte === null ? body : await beforeLastByte(body));
        } finally {
          answerHold.resize(0);
        }
      };
    if (beforeFirstByte === null) this.#settle(null);
    else this.#settleAfter(beforeFirstByte(body));
  }

  #settleAfter(work: Promise<AttemptFailure | null>): void {
    this.#attempt.pause();
    void work.then(
      (failure) => this.#settle(failure),
      (error: unknown) => this.#settle(unreadable(error)),
    );
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

const maxHeldBytes = 64 * 1024 * 1024;

/**
 * Holds a body in memory until it is whole. Its attempt fails if it has too many bytes, if the node has no room, or if
 * it is to be parsed and has more than may be.
 */
export class HeldBody {
  readonly #attempt: AttemptControl;
  readonly #hold: Pick<ByteReservation, 'takeBegun'>;
  readonly #isParsed: boolean;
  readonly #gathered = new GatheredBytes();
  /** Whether nothing but white space has arrived. */
  #isBlank = true;
  /** The scan; null while the body is small: that is scanned when it is parsed. */
  #scan: ForeignJsonScan | null = null;

  /** @param isParsed JSON that is not compressed is parsed as it arrives */
  constructor(attempt: AttemptControl, hold: Pick<ByteReservation, 'takeBegun'>, isParsed: boolean) {
    this.#attempt = attempt;
    this.#hold = hold;
    this.#isParsed = isParsed;
  }

  get bytes(): Buffer {
    return this.#gathered.bytes;
  }

  /** The scan; null if nothing has counted the values in what has arrived. */
  get scan(): ForeignJsonScan | null {
    return this.#scan;
  }

  take(chunk: Buffer): void {
    this.#isBlank &&= isBlank(chunk);
    // Some providers send empty lines while they make the answer.
    if (this.#isBlank) this.#attempt.markAlive(false);
    else this.#attempt.markContent();
    this.#gathered.add(chunk);
    if (this.#gathered.length > maxHeldBytes || this.#hasTooMuch(chunk)) this.#attempt.fail(tooLarge);
    else if (!this.#hold.takeBegun(chunk.length)) this.#attempt.fail(noRoom);
  }

  #hasTooMuch(chunk: Buffer): boolean {
    if (!this.#isParsed || this.#gathered.length <= largeBodyBytes) return false;
    const scan = this.#scan ?? new ForeignJsonScan();
    scan.feed(this.#scan === null ? this.bytes : chunk);
    this.#scan = scan;
    return scan.isTooLarge;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}
