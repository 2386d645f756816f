import type { ClientTool } from '#gateway/neutral/conversation.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import { freeTextIn } from '#gateway/protocols/free-text.ts';
import { itemPrefixOf } from '#responses/response-ids.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { type BuiltInForm, builtInCall } from './built-in-tools.ts';
import { gatheredText } from './long-text.ts';
import { type Emit, type ItemStatus, idAt, type OpenItem, type OutputPlace } from './output-items.ts';
import { emitInput, emitWholeItem } from './whole-item.ts';

/** The item of a call of a function, or of a tool that takes a free text. */
export class NamedCallItem implements OpenItem {
  readonly #index: number;
  readonly #emit: Emit;
  readonly #id: string;
  readonly #callId: string;
  readonly #client: ClientTool;
  readonly #isFreeText: boolean;
  readonly #gathered = new GatheredText();

  constructor(at: OutputPlace, callId: string, client: ClientTool) {
    const { index, emit } = at;
    this.#index = index;
    this.#emit = emit;
    this.#callId = callId;
    this.#client = client;
    this.#isFreeText = client.form === 'custom';
    this.#id = idAt(this.#isFreeText ? 'ctc' : 'fc', at);
    emit('response.output_item.added', { output_index: index, item: this.#item('in_progress', '') });
  }

  /** Adds a piece. A free text is known when its arguments are whole. @returns the bytes that are kept in addition */
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

  /** The arguments. The free text of a call that was cut off is not known. */
  #given(status: ItemStatus): Json {
    if (!this.#isFreeText) return gatheredText(this.#gathered);
    return status === 'completed' ? freeTextIn(this.#gathered.text) : '';
  }

  #emitDone(given: Json): void {
    if (this.#isFreeText) emitInput(this.#emit, this.#place, String(given));
    else
      this.#emit('response.function_call_arguments.done', {
        ...this.#place,
        name: this.#client.name,
        arguments: given,
      });
  }

  get #place(): JsonObject {
    return { item_id: this.#id, output_index: this.#index };
  }

  #item(status: ItemStatus | 'in_progress', given: Json): JsonObject {
    const { namespace, name } = this.#client;
    const ofNamespace = namespace === null ? {} : { namespace };
    const common = { id: this.#id, status, call_id: this.#callId, ...ofNamespace, name };
    return this.#isFreeText
      ? { ...common, type: 'custom_tool_call', input: given }
      : { ...common, type: 'function_call', arguments: given };
  }
}

/**
 * The item of a call of a built-in tool. Nothing of it is sent before its arguments are whole, because they become its
 * members.
 */
export class BuiltInCallItem implements OpenItem {
  readonly #at: OutputPlace;
  readonly #callId: string;
  readonly #form: BuiltInForm;
  readonly #gathered = new GatheredText();

  constructor(at: OutputPlace, callId: string, form: BuiltInForm) {
    this.#at = at;
    this.#callId = callId;
    this.#form = form;
  }

  /** @returns the bytes that are kept in addition */
  add(text: string): number {
    return this.#gathered.add(text);
  }

  end(status: ItemStatus): JsonObject | null {
    if (status === 'incomplete') return null;
    const { type, ...members } = builtInCall(this.#form, this.#gathered.text);
    const item = { id: idAt(itemPrefixOf(type), this.#at), type, status, call_id: this.#callId, ...members };
    emitWholeItem(this.#at.emit, this.#at.index, item);
    return item;
  }
}
