import type { Signature } from '#gateway/neutral/conversation.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import { itemIdOf } from '#responses/response-ids.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { gatheredText } from './long-text.ts';

export type Emit = (type: string, members: JsonObject) => void;

export interface OutputPlace {
  readonly responseId: string;
  readonly index: number;
  readonly emit: Emit;
}

export function idAt(prefix: string, { responseId, index }: OutputPlace): string {
  return itemIdOf(prefix, { responseId, list: 'output', index });
}

/** The answer may have ended inside an item. */
export type ItemStatus = 'completed' | 'incomplete';

export interface OpenItem {
  /** @returns null if nothing was sent of it, because it was cut off */
  readonly end: (status: ItemStatus) => JsonObject | null;
}

export interface PartPlace {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

type PartKind = 'text' | 'refusal';

export function partOf(kind: PartKind, text: Json): JsonObject {
  return kind === 'text'
    ? { type: 'output_text', annotations: [], logprobs: [], text }
    : { type: 'refusal', refusal: text };
}

export function emitDelta(emit: Emit, kind: PartKind, place: PartPlace, delta: string): void {
  if (kind === 'text') emit('response.output_text.delta', { ...place, delta, logprobs: [] });
  else emit('response.refusal.delta', { ...place, delta });
}

export function emitPartEnd(emit: Emit, kind: PartKind, place: PartPlace, text: Json, part: JsonObject): void {
  if (kind === 'text') emit('response.output_text.done', { ...place, text, logprobs: [] });
  else emit('response.refusal.done', { ...place, refusal: text });
  emit('response.content_part.done', { ...place, part });
}

export class MessageItem implements OpenItem {
  readonly #index: number;
  readonly #emit: Emit;
  readonly #id: string;
  readonly #content: JsonObject[] = [];
  #open: { readonly kind: PartKind; readonly gathered: GatheredText } | null = null;

  constructor(at: OutputPlace) {
    const { index, emit } = at;
    this.#index = index;
    this.#emit = emit;
    this.#id = idAt('msg', at);
    emit('response.output_item.added', { output_index: index, item: this.#item('in_progress') });
  }

  /** @returns the bytes that are kept in addition */
  add(kind: PartKind, text: string): number {
    if (this.#open?.kind !== kind) {
      this.#endPart();
      this.#open = { kind, gathered: new GatheredText() };
      this.#emit('response.content_part.added', { ...this.#place, part: partOf(kind, '') });
    }
    emitDelta(this.#emit, kind, this.#place, text);
    return this.#open.gathered.add(text);
  }

  end(status: ItemStatus): JsonObject {
    this.#endPart();
    const item = this.#item(status);
    this.#emit('response.output_item.done', { output_index: this.#index, item });
    return item;
  }

  get #place(): PartPlace {
    return { item_id: this.#id, output_index: this.#index, content_index: this.#content.length };
  }

  #endPart(): void {
    if (this.#open === null) return;
    const { kind, gathered } = this.#open;
    const text = gatheredText(gathered);
    const part = partOf(kind, text);
    emitPartEnd(this.#emit, kind, this.#place, text, part);
    this.#content.push(part);
    this.#open = null;
  }

  #item(status: ItemStatus | 'in_progress'): JsonObject {
    return { id: this.#id, type: 'message', status, role: 'assistant', content: [...this.#content] };
  }
}

/** The item of reasoning. The text is a summary, because that is what clients show. */
export class ReasoningItem implements OpenItem {
  readonly #index: number;
  readonly #emit: Emit;
  readonly #id: string;
  #gathered: GatheredText | null = null;
  #encryptedContent: string | null = null;

  constructor(at: OutputPlace) {
    const { index, emit } = at;
    this.#index = index;
    this.#emit = emit;
    this.#id = idAt('rs', at);
    emit('response.output_item.added', { output_index: index, item: this.#item() });
  }

  /** @returns the bytes that are kept in addition */
  add(text: string): number {
    if (this.#gathered === null) {
      this.#gathered = new GatheredText();
      this.#emit('response.reasoning_summary_part.added', { ...this.#place, part: summaryOf('') });
    }
    this.#emit('response.reasoning_summary_text.delta', { ...this.#place, delta: text });
    return this.#gathered.add(text);
  }

  sign(signature: Signature): void {
    this.#encryptedContent = signatureTextOf(signature);
  }

  end(): JsonObject {
    if (this.#gathered !== null) emitSummaryEnd(this.#emit, this.#place, gatheredText(this.#gathered));
    const item = this.#item();
    this.#emit('response.output_item.done', { output_index: this.#index, item });
    return item;
  }

  get #place(): JsonObject {
    return { item_id: this.#id, output_index: this.#index, summary_index: 0 };
  }

  #item(): JsonObject {
    const encrypted = this.#encryptedContent === null ? {} : { encrypted_content: this.#encryptedContent };
    const summary = this.#gathered === null ? [] : [summaryOf(gatheredText(this.#gathered))];
    return { id: this.#id, type: 'reasoning', summary, ...encrypted };
  }
}

export function summaryOf(text: Json): JsonObject {
  return { type: 'summary_text', text };
}

export function emitSummaryEnd(emit: Emit, place: JsonObject, text: Json): void {
  emit('response.reasoning_summary_text.done', { ...place, text });
  emit('response.reasoning_summary_part.done', { ...place, part: summaryOf(text) });
}
