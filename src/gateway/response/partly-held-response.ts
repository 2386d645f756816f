import type { ByteReservation } from '#exchange/byte-budget.ts';
import type { Client } from '#exchange/client.ts';
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
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { JsonMemberReader } from '#gateway/framing/json-member-reader.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { providerErrorIn, usageIn } from '#gateway/neutral/provider-report.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { redactErrors } from './errors-inside.ts';
import {
  copyHeader,
  createRelayedHeaders,
  heldContent,
  jsonTypeOf,
  type ResponseHandler,
  type ResponseHead,
  writePaced,
} from './response-handler.ts';

/** Maximum size of a held answer. A larger one is passed on as it arrives. */
const maxHeldBytes = 1024 * 1024;

interface PartlyHeldResponseOptions {
  readonly response: Client;
  readonly answerHold: ByteReservation;
  readonly requiredMember: string;
}

/**
 * Passes JSON of any size. Holds an answer of at most 1 MiB until that is complete, so that another attempt can replace
 * one that breaks. A larger answer passes as it arrives, with back-pressure; one that breaks then ends the connection.
 * Only the usage is parsed.
 */
export class PartlyHeldResponse implements ResponseHandler {
  readonly #options: PartlyHeldResponseOptions;
  readonly isAwaitingUsage = false;
  hasBegun = false;

  constructor(options: PartlyHeldResponseOptions) {
    this.#options = options;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    const { answerHold, requiredMember } = this.#options;
    const held = new GatheredBytes();
    const reader = new JsonMemberReader(['usage', 'error'], [requiredMember]);
    const isEncoded = (head.headers['content-encoding'] ?? 'identity') !== 'identity';
    let isOver = false;
    const settle = (failure: AttemptFailure | null) => {
      answerHold.resize(0);
      if (failure === null) attempt.complete();
      else attempt.fail(failure);
    };
    return {
      reported: () => reportedIn(reader),
      onData: (chunk) => {
        attempt.markContent();
        if (!isEncoded) reader.feed(chunk);
        if (this.hasBegun) return writePaced(this.#options.response, chunk, attempt);
        held.add(chunk);
        if (held.length > maxHeldBytes) this.#begin(head, held, attempt, isEncoded ? null : reader);
        else if (!answerHold.takeBegun(chunk.length)) attempt.fail(noRoom);
      },
      onEnd: () => {
        if (this.hasBegun) return settle(this.#end(isEncoded ? null : reader));
        attempt.pause();
        void this.#read(head, held, reader, isEncoded)
          .then((answer) => {
            if (!isOver) settle(this.#deliver(head, answer, reader));
          })
          .catch((error: unknown) => settle(unreadable(error)));
      },
      onAbort: () => {
        isOver = true;
        answerHold.resize(0);
      },
    };
  }

  continuation(): null {
    return null;
  }

  /** Breaks the answer, so that no client mistakes its part for a complete one. */
  abort(): void {
    this.#options.response.destroy();
  }

  /** @param reader null for a compressed answer, which is not read */
  #begin(head: ResponseHead, held: GatheredBytes, attempt: AttemptControl, reader: JsonMemberReader | null): void {
    const { response, answerHold, requiredMember } = this.#options;
    if (reader !== null && !(reader.state === 'open' && reader.has(requiredMember))) {
      attempt.fail(malformed);
      return;
    }
    this.hasBegun = true;
    const fields = createRelayedHeaders(head, jsonTypeOf(head));
    for (const name of ['content-length', 'content-encoding']) copyHeader(fields, head, name);
    response.start(head.status, fields);
    for (const chunk of held.take()) writePaced(response, chunk, attempt);
    answerHold.resize(0);
  }

  #end(reader: JsonMemberReader | null): AttemptFailure | null {
    if (reader !== null && reader.state !== 'complete') return unfinished;
    this.#options.response.end();
    return null;
  }

  /** Returns what the client gets, or why it gets nothing. */
  async #read(
    head: ResponseHead,
    gathered: GatheredBytes,
    reader: JsonMemberReader,
    isEncoded: boolean,
  ): Promise<Buffer | AttemptFailure> {
    const body = heldContent(head, gathered.bytes);
    if (body === null) return malformed;
    if (isEncoded) reader.feed(body);
    if (reader.state !== 'complete') return body.length === 0 ? unfinished : malformed;
    if (!reader.has(this.#options.requiredMember)) {
      const error = providerErrorIn({ error: reader.value('error') } as JsonObject);
      return error === null ? malformed : refusalInBody(error);
    }
    const { redactor } = head;
    if (redactor === null || !reader.has('error')) return body;
    const held = { owner: this.#options.answerHold.projectId, hasLeft: false };
    return (await redactErrors(body, redactor, held)) ?? tooLarge;
  }

  #deliver(head: ResponseHead, answer: Buffer | AttemptFailure, reader: JsonMemberReader): AttemptFailure | null {
    if (!Buffer.isBuffer(answer)) return answer;
    this.hasBegun = true;
    this.#options.response.send(head.status, createRelayedHeaders(head, jsonTypeOf(head), reportedIn(reader)), answer);
    return null;
  }
}

function reportedIn(reader: JsonMemberReader): ReportedConsumption {
  return { ...nothingReported, tokens: usageIn({ usage: reader.value('usage') }) };
}
