import type { FinishReason } from './answer-event.ts';
import type { Tokens } from './consumption.ts';
import type { Signature } from './conversation.ts';

export type AnswerPart =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string; readonly signature: Signature | null }
  | {
      readonly kind: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      /** The provider needs it back with the call. */
      readonly state: Signature | null;
    };

/** A whole answer in the form of no protocol. */
export interface Answer {
  readonly id: string | null;
  readonly model: string | null;
  readonly parts: ReadonlyArray<AnswerPart>;
  readonly reason: FinishReason;
  readonly stopSequence: string | null;
  readonly tokens: Tokens | null;
}
