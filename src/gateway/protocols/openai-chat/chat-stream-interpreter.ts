import {
  classifications,
  type EventClassification,
  type StreamInterpreter,
} from '#gateway/framing/stream-interpreter.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import { type ChatChunk, ChatProgress, readChatEvent } from './chat-event.ts';
import { ChatEventReader } from './chat-event-reader.ts';

const { empty, noContent, content, gatewayOnly, end, malformed, tooLarge } = classifications;

/** Reads a stream, which is finished when every choice has its `finish_reason`. */
export class ChatStreamInterpreter implements StreamInterpreter {
  readonly #reader = new ChatEventReader();
  readonly #progress: ChatProgress;
  readonly #takesUsageOut: boolean;

  /** @param choices requested @param takesUsageOut removes the chunk of usage, because the client did not request it */
  constructor(choices: number, keepsText: boolean, takesUsageOut: boolean) {
    this.#progress = new ChatProgress(choices, keepsText);
    this.#takesUsageOut = takesUsageOut;
  }

  classify(data: string | null): EventClassification {
    const event = this.#reader.read(data);
    switch (event.kind) {
      case 'empty':
        return empty;
      case 'done':
        return end;
      case 'malformed':
        return malformed;
      case 'too-large':
        return tooLarge;
      case 'error':
        return event;
      case 'chunk':
        return this.#classifyChunk(event);
    }
  }

  #classifyChunk(chunk: ChatChunk): EventClassification {
    const isFirst = !chunk.hasContent && !this.#progress.hasSeen(chunk.choices);
    this.#progress.add(chunk);
    if (this.#progress.isOverflown) return tooLarge;
    if (chunk.isUsageOnly && this.#takesUsageOut) return gatewayOnly;
    if (chunk.hasContent) return content;
    return isFirst ? noContent : empty;
  }

  peek(beginning: string): 'content' | null {
    const event = readChatEvent(beginning);
    return event.kind === 'chunk' && event.hasContent ? 'content' : null;
  }

  finish(): string {
    return 'data: [DONE]\n\n';
  }

  get hasBegun(): boolean {
    return this.#progress.hasContent;
  }

  get isFinished(): boolean {
    return this.#progress.finished;
  }

  get canEnd(): boolean {
    return this.#progress.seenFinished;
  }

  get keptBytes(): number {
    return this.#progress.keptBytes;
  }

  get tokens(): Tokens | null {
    return this.#progress.tokens;
  }

  get text(): string | null {
    return this.#progress.text;
  }
}
