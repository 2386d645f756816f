import type { Signature } from '#gateway/neutral/conversation.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import { freeTextIn } from '#gateway/protocols/free-text.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import { itemIdOf } from '#responses/response-ids.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { textOf } from './long-text.ts';

/** Emits an event of a stream. */
export type Emit = (type: string, members: JsonObject) => void;

/** Where an item is in the output, and where its events go. */
export interface OutputPlace {
  readonly responseId: string;
  readonly index: number;
  readonly emit: Emit;
}

function idAt(prefix: string, { responseId, index }: OutputPlace): string {
  return itemIdOf(prefix, { responseId, list: 'output', index });
}

/** Whether an item is complete: the answer may have ended inside it. */
export type ItemStatus = 'completed' | 'incomplete';

/** An item of the output that is being written. */
export interface OpenItem {
  /** Ends the item. */
  readonly end: (status: ItemStatus) => JsonObject;
}

/** The place of a part in the output. */
interface PartPlace {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

/** A part of a message: a text, or the refusal of one. */
type PartKind = 'text' | 'refusal';

function partOf(kind: PartKind, text: Json): JsonObject {
  return kind === 'text'
    ? { type: 'output_text', annotations: [], logprobs: [], text }
    : { type: 'refusal', refusal: text };
}

function emitDelta(emit: Emit, kind: PartKind, place: PartPlace, delta: string): void {
  if (kind === 'text') emit('response.output_text.delta', { ...place, delta, logprobs: [] });
  else emit('response.refusal.delta', { ...place, delta });
}

function emitPartEnd(emit: Emit, kind: PartKind, place: PartPlace, text: Json, part: JsonObject): void {
  if (kind === 'text') emit('response.output_text.done', { ...place, text, logprobs: [] });
  else emit('response.refusal.done', { ...place, refusal: text });
  emit('response.content_part.done', { ...place, part });
}

/** A message of the assistant. */
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
    const text = textOf(gathered);
    const part = partOf(kind, text);
    emitPartEnd(this.#emit, kind, this.#place, text, part);
    this.#content.push(part);
    this.#open = null;
  }

  #item(status: ItemStatus | 'in_progress'): JsonObject {
    return { id: this.#id, type: 'message', status, role: 'assistant', content: [...this.#content] };
  }
}

/** What the model thought before it answered. Its text is a summary, because that is what clients show. */
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
    if (this.#gathered !== null) emitSummaryEnd(this.#emit, this.#place, textOf(this.#gathered));
    const item = this.#item();
    this.#emit('response.output_item.done', { output_index: this.#index, item });
    return item;
  }

  get #place(): JsonObject {
    return { item_id: this.#id, output_index: this.#index, summary_index: 0 };
  }

  #item(): JsonObject {
    const encrypted = this.#encryptedContent === null ? {} : { encrypted_content: this.#encryptedContent };
    const summary = this.#gathered === null ? [] : [summaryOf(textOf(this.#gathered))];
    return { id: this.#id, type: 'reasoning', summary, ...encrypted };
  }
}

function summaryOf(text: Json): JsonObject {
  return { type: 'summary_text', text };
}

function emitSummaryEnd(emit: Emit, place: JsonObject, text: Json): void {
  emit('response.reasoning_summary_text.done', { ...place, text });
  emit('response.reasoning_summary_part.done', { ...place, part: summaryOf(text) });
}

/** A call of a tool: of a function, or of a tool that takes a free text. */
export class CallItem implements OpenItem {
  readonly #index: number;
  readonly #emit: Emit;
  readonly #id: string;
  readonly #callId: string;
  readonly #name: string;
  readonly #isFreeText: boolean;
  readonly #gathered = new GatheredText();

  constructor(
    at: OutputPlace,
    { id: callId, name }: { readonly id: string; readonly name: string },
    isFreeText: boolean,
  ) {
    const { index, emit } = at;
    this.#index = index;
    this.#emit = emit;
    this.#id = idAt(isFreeText ? 'ctc' : 'fc', at);
    this.#callId = callId;
    this.#name = name;
    this.#isFreeText = isFreeText;
    emit('response.output_item.added', { output_index: index, item: this.#item('in_progress', '') });
  }

  /**
   * A free text is known when its arguments are whole.
   * @returns the bytes that are kept in addition
   */
  add(text: string): number {
    if (!this.#isFreeText) this.#emit('response.function_call_arguments.delta', { ...this.#place, delta: text });
    return this.#gathered.add(text);
  }

  end(status: ItemStatus): JsonObject {
    const given = this.#given(status);
    const item = this.#item(status, given);
    if (status === 'completed') this.#emitDone(given);
    this.#emit('response.output_item.done', { output_index: this.#index, item });
    return item;
  }

  /** The free text of a call that was cut off is not known. */
  #given(status: ItemStatus): Json {
    if (!this.#isFreeText) return textOf(this.#gathered);
    return status === 'completed' ? freeTextIn(this.#gathered.text) : '';
  }

  #emitDone(given: Json): void {
    if (this.#isFreeText) emitInput(this.#emit, this.#place, String(given));
    else this.#emit('response.function_call_arguments.done', { ...this.#place, name: this.#name, arguments: given });
  }

  get #place(): JsonObject {
    return { item_id: this.#id, output_index: this.#index };
  }

  #item(status: ItemStatus | 'in_progress', given: Json): JsonObject {
    const common = { id: this.#id, status, call_id: this.#callId, name: this.#name };
    return this.#isFreeText
      ? { ...common, type: 'custom_tool_call', input: given }
      : { ...common, type: 'function_call', arguments: given };
  }
}

function emitInput(emit: Emit, place: JsonObject, input: string): void {
  if (input !== '') emit('response.custom_tool_call_input.delta', { ...place, delta: input });
  emit('response.custom_tool_call_input.done', { ...place, input });
}

/** Emits the events of an item that is complete, each of its texts in one piece. */
export function emitWholeItem(emit: Emit, index: number, item: JsonObject): void {
  const place = { item_id: typeof item.id === 'string' ? item.id : '', output_index: index };
  emit('response.output_item.added', { output_index: index, item: begunItem(item) });
  switch (item.type) {
    case 'message':
      emitParts(emit, place, item);
      break;
    case 'reasoning':
      emitSummaries(emit, place, item);
      break;
    case 'function_call':
      emit('response.function_call_arguments.delta', { ...place, delta: String(item.arguments) });
      emit('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments });
      break;
    case 'custom_tool_call':
      emitInput(emit, place, String(item.input));
      break;
  }
  emit('response.output_item.done', { output_index: index, item });
}

/** An item as it is when it begins. */
function begunItem(item: JsonObject): JsonObject {
  const begun = 'status' in item ? { ...item, status: 'in_progress' } : item;
  switch (item.type) {
    case 'message':
      return { ...begun, content: [] };
    case 'reasoning':
      return { ...begun, summary: [] };
    case 'function_call':
      return { ...begun, arguments: '' };
    case 'custom_tool_call':
      return { ...begun, input: '' };
    default:
      return begun;
  }
}

function emitParts(emit: Emit, place: Omit<PartPlace, 'content_index'>, { content }: JsonObject): void {
  for (const [index, part] of objectsIn(content).entries()) {
    const partPlace = { ...place, content_index: index };
    const kind = part.type === 'refusal' ? 'refusal' : 'text';
    const text = String((kind === 'refusal' ? part.refusal : part.text) ?? '');
    emit('response.content_part.added', { ...partPlace, part: partOf(kind, '') });
    if (text !== '') emitDelta(emit, kind, partPlace, text);
    emitPartEnd(emit, kind, partPlace, text, part);
  }
}

function emitSummaries(emit: Emit, place: JsonObject, { summary }: JsonObject): void {
  for (const [index, { text }] of objectsIn(summary).entries()) {
    const summaryPlace = { ...place, summary_index: index };
    emit('response.reasoning_summary_part.added', { ...summaryPlace, part: summaryOf('') });
    emit('response.reasoning_summary_text.delta', { ...summaryPlace, delta: String(text) });
    emitSummaryEnd(emit, summaryPlace, String(text));
  }
}

function objectsIn(list: JsonObject[string]): ReadonlyArray<JsonObject> {
  return Array.isArray(list) ? (list as ReadonlyArray<JsonObject>) : [];
}
