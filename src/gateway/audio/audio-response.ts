import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { AudioStreamInterpreter } from '#gateway/audio/audio-stream-interpreter.ts';
import type { GatewayCall } from '#gateway/gateway-call.ts';
import { ByteStreamResponse } from '#gateway/response/byte-stream-response.ts';
import { EventStreamResponse } from '#gateway/response/event-stream-response.ts';
import type { ResponseHandler, ResponseHead } from '#gateway/response/response-handler.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';

/**
 * Events are passed on one by one, JSON is held until it is complete, and other content is passed on as the operation
 * chooses. The form is read from the answer, because a provider may ignore the requested one.
 */
export class AudioResponse implements ResponseHandler {
  readonly #events: EventStreamResponse;
  readonly #whole: WholeResponse;
  readonly #other: ResponseHandler;
  #chosen: ResponseHandler;

  /**
   * @param other for content that is neither JSON nor events: `bytes` passes it on as it arrives, `whole` when it is
   *   complete
   */
  constructor(call: GatewayCall, other: 'bytes' | 'whole') {
    const { client: response, held } = call;
    this.#whole = new WholeResponse({ response, answerHold: held.answer, requiredMember: null });
    this.#events = new EventStreamResponse({
      response,
      call,
      answerHold: held.answer,
      createInterpreter: () => new AudioStreamInterpreter(),
      isHeldWhole: false,
    });
    this.#other = other === 'whole' ? this.#whole : new ByteStreamResponse(response);
    this.#chosen = this.#other;
  }

  get hasBegun(): boolean {
    return this.#chosen.hasBegun;
  }

  get isAwaitingUsage(): boolean {
    return this.#chosen.isAwaitingUsage;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    const contentType = head.headers['content-type'] ?? '';
    if (/^text\/event-stream\b/i.test(contentType)) this.#chosen = this.#events;
    else if (/[/+]json\b/i.test(contentType)) this.#chosen = this.#whole;
    else this.#chosen = this.#other;
    return this.#chosen.receive(head, attempt);
  }

  continuation(): null {
    return null;
  }

  abort(failure: AttemptFailure): void {
    this.#chosen.abort(failure);
  }
}
