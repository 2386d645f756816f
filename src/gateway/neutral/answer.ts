import type { AnswerEvent, FinishReason } from './answer-event.ts';
import type { Tokens } from './consumption.ts';
import type { Signature } from './conversation.ts';

/** A part of a whole answer. */
export type AnswerPart =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string; readonly signature: Signature | null }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly arguments: string };

/** A whole answer, in the form of no protocol. */
export interface Answer {
  readonly id: string | null;
  readonly model: string | null;
  readonly parts: ReadonlyArray<AnswerPart>;
  readonly reason: FinishReason;
  readonly stopSequence: string | null;
  readonly tokens: Tokens | null;
}

/** The events of a whole answer: a stream of them says the same. */
export function* eventsOf({ id, model, parts, reason, stopSequence, tokens }: Answer): Iterable<AnswerEvent> {
  yield { kind: 'started', id, model };
  let index = 0;
  for (const part of parts) {
    if (part.kind === 'tool-call') {
      yield { kind: 'tool-call', index, id: part.id, name: part.name };
      yield { kind: 'arguments', index, text: part.arguments };
      index += 1;
    } else {
      yield { kind: part.kind, text: part.text };
      if (part.kind === 'reasoning' && part.signature !== null) yield { kind: 'signature', signature: part.signature };
    }
  }
  if (tokens !== null) yield { kind: 'usage', tokens };
  yield { kind: 'finished', reason, stopSequence };
  yield { kind: 'end' };
}
