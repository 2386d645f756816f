import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import {
  classifications,
  type EventClassification,
  type StreamInterpreter,
} from '#gateway/framing/stream-interpreter.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import { providerErrorIn, usageIn } from '#gateway/neutral/provider-report.ts';
import { isObject } from '#shared/json/json.ts';

const { empty, content, end, malformed, tooLarge } = classifications;

/** A stream of speech or transcription events. The event whose type ends in `.done` finishes it. */
export class AudioStreamInterpreter implements StreamInterpreter {
  readonly text = null;
  readonly keptBytes = 0;
  /** Its first event is content. */
  readonly hasBegun = false;
  isFinished = false;
  tokens: Tokens | null = null;

  finish(): string {
    return '';
  }

  get canEnd(): boolean {
    return this.isFinished;
  }

  peek(beginning: string): 'content' | null {
    const event = parseForeign(beginning);
    return isObject(event) && typeof event.type === 'string' && providerErrorIn(event) === null ? 'content' : null;
  }

  classify(data: string | null): EventClassification {
    if (data === null || data === '') return empty;
    if (data.trim() === '[DONE]') return end;
    const event = parseForeign(data);
    if (event === tooLargeJson) return tooLarge;
    if (!isObject(event)) return malformed;
    const error = providerErrorIn(event);
    if (error !== null) return { kind: 'error', error };
    this.isFinished ||= typeof event.type === 'string' && event.type.endsWith('.done');
    this.tokens = usageIn(event) ?? this.tokens;
    return content;
  }
}
