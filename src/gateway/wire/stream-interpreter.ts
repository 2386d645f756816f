import { isObject, parsedJson } from '#shared/json/json.ts';
import { ChatProgress, type ProviderError, providerErrorIn, type Tokens, tokensIn } from './chat-event.ts';
import { ChatEventReader } from './chat-event-reader.ts';

/** How the stream that passes an event on handles it. */
export type EventClassification =
  /** No content. */
  | { readonly kind: 'no-content' }
  | { readonly kind: 'content' }
  /** Removed, because only the gateway requested it. */
  | { readonly kind: 'gateway-only' }
  /** The mark that ends the stream. */
  | { readonly kind: 'end' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'error'; readonly error: ProviderError };

/** Interprets the events of one attempt's stream. */
export interface StreamInterpreter {
  readonly classify: (data: string | null) => EventClassification;
  /** Whether the whole answer has arrived. */
  readonly isFinished: boolean;
  /** Whether the answer is whole if the provider's end mark follows. */
  readonly canEnd: boolean;
  /** The mark to write if a finished stream ended without one; null if the format has none. */
  readonly endMark: string | null;
  readonly tokens: Tokens | null;
  /** The text so far if it is the whole content; else null. */
  readonly text: string | null;
}

const noContent: EventClassification = { kind: 'no-content' };
const content: EventClassification = { kind: 'content' };
const gatewayOnly: EventClassification = { kind: 'gateway-only' };
const end: EventClassification = { kind: 'end' };
const malformed: EventClassification = { kind: 'malformed' };

/** A chat stream: finished when every choice has its `finish_reason`. */
export class ChatStreamInterpreter implements StreamInterpreter {
  readonly endMark = 'data: [DONE]\n\n';
  readonly #reader = new ChatEventReader();
  readonly #progress: ChatProgress;
  readonly #takesUsageOut: boolean;

  /**
   * @param choices the number of requested choices
   * @param takesUsageOut whether to remove the chunk of usage, because the client did not request it
   */
  constructor(choices: number, keepsText: boolean, takesUsageOut: boolean) {
    this.#progress = new ChatProgress(choices, keepsText);
    this.#takesUsageOut = takesUsageOut;
  }

  classify(data: string | null): EventClassification {
    const event = this.#reader.read(data);
    switch (event.kind) {
      case 'empty':
        return noContent;
      case 'done':
        return end;
      case 'malformed':
        return malformed;
      case 'error':
        return event;
      case 'chunk':
        this.#progress.add(event);
        if (event.isUsageOnly && this.#takesUsageOut) return gatewayOnly;
        return event.hasContent ? content : noContent;
    }
  }

  get isFinished(): boolean {
    return this.#progress.finished;
  }

  get canEnd(): boolean {
    return this.#progress.seenFinished;
  }

  get tokens(): Tokens | null {
    return this.#progress.tokens;
  }

  get text(): string | null {
    return this.#progress.text;
  }
}

/** A stream of speech or transcription events. The event whose type ends in `.done` finishes it. */
export class AudioStreamInterpreter implements StreamInterpreter {
  readonly endMark = null;
  readonly text = null;
  isFinished = false;
  tokens: Tokens | null = null;

  get canEnd(): boolean {
    return this.isFinished;
  }

  classify(data: string | null): EventClassification {
    if (data === null || data === '') return noContent;
    if (data.trim() === '[DONE]') return end;
    const event = parsedJson(data);
    if (!isObject(event)) return malformed;
    const error = providerErrorIn(event);
    if (error !== null) return { kind: 'error', error };
    this.isFinished ||= typeof event.type === 'string' && event.type.endsWith('.done');
    this.tokens = tokensIn(event.usage) ?? this.tokens;
    return content;
  }
}
