import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { reasoningIn } from './chat-content.ts';
import { ExtraContent } from './extra-content.ts';
import { detailsIn, detailsMember, stateSignature } from './message-state.ts';
import { ReasoningDetails } from './reasoning-details.ts';

/**
 * What the provider of a stream needs back with its message. It becomes a signature at the end of the reasoning, and
 * another one if more comes later: what is encrypted may follow the text.
 */
export class StreamedState {
  readonly #of: string;
  #member: string | null = null;
  #hasText = false;
  /** The text of the reasoning while the details may repeat it; null if they do not repeat all of it. */
  #text: GatheredText | null = new GatheredText();
  #details = new ReasoningDetails();
  /** True if some details have come, signed or not. */
  #hasDetails = false;
  #extra = new ExtraContent();

  /** @param of the target that needs it back */
  constructor(of: string) {
    this.#of = of;
  }

  get keptBytes(): number {
    return (this.#text?.bytes ?? 0) + this.#details.keptBytes + this.#extra.bytes;
  }

  /** Whether the text of a delta has come before, in another member: details may repeat all of it at the end. */
  hasTextOf(delta: JsonObject): boolean {
    return this.#member !== null && reasoningIn(delta)?.member === detailsMember;
  }

  takeDelta(delta: JsonObject): void {
    for (const piece of detailsIn(delta)) this.#details.add(piece);
    this.#takeOthers(delta, this.hasTextOf(delta) ? null : reasoningIn(delta));
  }

  /** Takes a message at the end of a stream, which may repeat what has come. */
  takeMessage(message: JsonObject, hasSaidReasoning: boolean): void {
    if (!this.#hasDetails) for (const detail of detailsIn(message)) this.#details.append(detail);
    this.#takeOthers(message, hasSaidReasoning ? null : reasoningIn(message));
  }

  #takeOthers({ extra_content: extra }: JsonObject, reasoning: ReturnType<typeof reasoningIn>): void {
    this.#hasDetails ||= !this.#details.isEmpty;
    this.#extra.add(extra);
    if (reasoning === null) return;
    if (reasoning.member !== detailsMember) this.#member ??= reasoning.member;
    this.#hasText = true;
    if (this.#details.isEmpty) this.#text = null;
    else this.#text?.add(reasoning.text);
  }

  /** Puts the signature before the first event of another part than reasoning. */
  withSignature(events: ReadonlyArray<AnswerEvent>): ReadonlyArray<AnswerEvent> {
    // What belongs to a text comes with its pieces.
    const isOfText = !this.#hasText && this.#details.isEmpty;
    const next = events.findIndex(({ kind }) => endsReasoning.has(kind) && !(isOfText && kind === 'text'));
    if (next === -1) return events;
    return events.toSpliced(next, 0, ...this.#sign());
  }

  #sign(): ReadonlyArray<AnswerEvent> {
    const details = this.#details.all;
    if (!this.#hasText && details.length === 0 && this.#extra.isEmpty) return [];
    const text = this.#hasText ? (this.#text?.text ?? null) : '';
    const state = { member: this.#member, details, extra: this.#extra.value };
    this.#hasText = false;
    this.#text = new GatheredText();
    this.#details = new ReasoningDetails();
    this.#extra = new ExtraContent();
    return [{ kind: 'signature', signature: stateSignature(state, this.#of, text) }];
  }
}

const endsReasoning: ReadonlySet<AnswerEvent['kind']> = new Set(['text', 'refusal', 'tool-call', 'finished']);
