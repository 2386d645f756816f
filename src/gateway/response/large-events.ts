import { answerShortageFailure } from '#exchange/byte-budget.ts';
import { malformed, tooLarge, tooLargeEvent } from '#gateway/attempt/attempt-failure.ts';
import { outlineOf } from '#gateway/framing/large-event.ts';
import type { SseBatch } from '#gateway/framing/sse-splitter.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { EventPassage } from './event-passage.ts';
import { OpenLargeEvent } from './open-large-event.ts';
import type { SharedStream } from './shared-stream.ts';
import type { StreamAnswer } from './stream-answer.ts';

/** How often a held answer repeats a translated event: three events of Responses do at the end of its item. */
const maxCopies = 4;

export class LargeEvents {
  readonly #stream: SharedStream;
  readonly #answer: StreamAnswer;
  readonly #interpreter: StreamInterpreter;
  readonly #passage: EventPassage;

  constructor(stream: SharedStream, answer: StreamAnswer, interpreter: StreamInterpreter, passage: EventPassage) {
    this.#stream = stream;
    this.#answer = answer;
    this.#interpreter = interpreter;
    this.#passage = passage;
  }

  /** @returns null if the event ends the stream */
  open(beginning: Buffer): OpenLargeEvent | null {
    const outline = outlineOf(beginning);
    if (outline === '') {
      this.#answer.fail(tooLarge);
      return null;
    }
    const kind = this.#interpreter.peek?.(outline) ?? null;
    if (kind === 'content') this.#answer.markContent();
    const passes = kind !== null && this.#answer.hasContent && !this.#stream.options.isHeldWhole;
    if (passes) this.#stream.beginPieces();
    return new OpenLargeEvent(passes ? 'passes' : this.#passage.held, this.#stream.options.answerHold.maxProjectBytes);
  }

  /** @returns the bytes after the event */
  take(large: OpenLargeEvent, bytes: Buffer): Buffer {
    if (large.isComplete) return bytes;
    if (large.isHeld && !this.#canHold(bytes.length)) return bytes;
    const length = large.take(bytes);
    this.#answer.held.openBytes = large.keptBytes;
    if (!large.isHeld && !large.isCut) this.#answer.send(bytes.subarray(0, length));
    if (large.isTooLarge) this.#answer.fail(tooLarge);
    this.#answer.count();
    return bytes.subarray(length);
  }

  /**
   * @param missing of its end
   * @returns what is to pass of it
   */
  end(large: OpenLargeEvent, missing: Buffer): SseBatch | null {
    const { batch, way } = large;
    this.#answer.held.openBytes = 0;
    if (way === 'holds-data') {
      this.#answer.held.extendFor(maxCopies * large.heldBytes);
      return batch;
    }
    if (way === 'passes') {
      if (large.isCut) this.#endCut(batch);
      else this.#endPassed(batch, missing);
      return null;
    }
    this.#answer.held.extendFor(batch.bytes.length);
    this.#answer.count();
    const bytes = missing.length === 0 ? batch.bytes : Buffer.concat([batch.bytes, missing]);
    return { bytes, events: batch.events.map((event) => ({ ...event, end: bytes.length })) };
  }

  #endPassed(batch: SseBatch, missing: Buffer): void {
    this.#answer.send(missing);
    this.#stream.endPieces();
    this.#passage.note(batch);
  }

  /** Ends a cut event, whose error ends the stream. The client has a part of it. */
  #endCut(batch: SseBatch): void {
    this.#passage.note(batch);
    this.#answer.fail(malformed);
  }

  /** True if the bytes can be held. Counts them, too. */
  #canHold(bytes: number): boolean {
    const { answerHold } = this.#stream.options;
    const shortage = answerHold.take(bytes);
    if (shortage === null) return true;
    if (shortage === 'project' && answerHold.bytes + bytes > answerHold.maxProjectBytes)
      this.#answer.fail(tooLargeEvent(answerHold.maxProjectBytes));
    else this.#answer.fail({ kind: 'here', failure: answerShortageFailure(shortage) });
    return false;
  }
}
