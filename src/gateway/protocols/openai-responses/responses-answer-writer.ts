import { sseEvent } from '#gateway/framing/sse-event.ts';
import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent, AnswerWriter, FinishReason } from '#gateway/neutral/answer-event.ts';
import type { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { idWithState } from '#gateway/protocols/call-state.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { isBuiltIn } from './built-in-tools.ts';
import { EventFrames } from './event-frames.ts';
import { jsonParts, type LongText } from './long-text.ts';
import { BuiltInCallItem, NamedCallItem } from './output-calls.ts';
import {
  type Emit,
  type ItemStatus,
  MessageItem,
  type OpenItem,
  type OutputPlace,
  ReasoningItem,
} from './output-items.ts';
import { failedResponse, incompleteReason, type ResponseFrame, responseObject } from './response-object.ts';

export function eventText(event: JsonObject & { readonly type: string }): string {
  return sseEvent(event.type, JSON.stringify(event));
}

export function errorMembers(error: JsonObject): JsonObject {
  const { message = '', code = null, param = null } = (error.error ?? {}) as JsonObject;
  return { code, message, param };
}

type MadeCall = Pick<Extract<AnswerPart, { kind: 'tool-call' }>, 'id' | 'name' | 'state'>;

class OutputItems {
  readonly #responseId: string;
  readonly #emit: Emit;
  readonly #tools: ClientTools;
  readonly #items: JsonObject[] = [];
  #open: OpenItem | null = null;
  #begun = 0;

  constructor({ id }: ResponseFrame, emit: Emit, tools: ClientTools) {
    this.#responseId = id;
    this.#emit = emit;
    this.#tools = tools;
  }

  message(): MessageItem {
    if (this.#open instanceof MessageItem) return this.#open;
    return this.#begin(new MessageItem(this.#next()));
  }

  reasoning(): ReasoningItem {
    if (this.#open instanceof ReasoningItem) return this.#open;
    return this.#begin(new ReasoningItem(this.#next()));
  }

  /** Ends the reasoning, or is all that there is of it. */
  sign(signature: Signature): void {
    this.reasoning().sign(signature);
    this.endPart();
  }

  call({ id, name: called, state }: MadeCall): void {
    const client = this.#tools.of(called);
    const callId = idWithState(id, state);
    const at = this.#next();
    this.#begin(
      isBuiltIn(client.form) ? new BuiltInCallItem(at, callId, client.form) : new NamedCallItem(at, callId, client),
    );
  }

  /** @returns the bytes that are kept in addition */
  arguments(text: string): number {
    return isCall(this.#open) ? this.#open.add(text) : 0;
  }

  endPart(): void {
    this.#endOpen('completed');
  }

  /**
   * A call that is whole has ended before.
   * @returns all items
   */
  end(status: ItemStatus): ReadonlyArray<JsonObject> {
    this.#endOpen(isCall(this.#open) ? 'incomplete' : status);
    return this.#items;
  }

  #next(): OutputPlace {
    this.end('completed');
    this.#begun += 1;
    return { responseId: this.#responseId, index: this.#begun - 1, emit: this.#emit };
  }

  #begin<Item extends OpenItem>(item: Item): Item {
    this.#open = item;
    return item;
  }

  /** Ends the open item. A call that was cut off is not in the response: no client can answer it. */
  #endOpen(status: ItemStatus): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    const item = open.end(status);
    if (item === null) this.#begun -= 1;
    else if (status === 'completed' || !isCall(open)) this.#items.push(item);
  }
}

function isCall(item: OpenItem | null): item is NamedCallItem | BuiltInCallItem {
  return item instanceof NamedCallItem || item instanceof BuiltInCallItem;
}

/** The bytes of a part in addition to its texts. */
const bytesPerPart = 512;

/** The kept bytes of an event at the end of the answer, without its text. */
function keptBytesOfEvent(event: AnswerEvent): number {
  switch (event.kind) {
    case 'signature':
      return keptBytesOf(event.signature.value) + bytesPerPart;
    case 'tool-call':
      return keptBytesOf(idWithState(event.id, event.state)) + keptBytesOf(event.name) + bytesPerPart;
    default:
      return 0;
  }
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
export class ResponsesAnswerWriter implements AnswerWriter {
  readonly #frame: ResponseFrame;
  readonly #frames = new EventFrames();
  readonly #items: OutputItems;
  /** The whole answer is kept, because the last event repeats it. */
  keptBytes = 0;
  #lastKind: AnswerEvent['kind'] | null = null;
  #hasBegun = false;
  #reason: FinishReason = 'stop';
  #tokens: Tokens | null = null;

  constructor(frame: ResponseFrame, tools: ClientTools) {
    this.#frame = frame;
    this.#items = new OutputItems(frame, this.#frames.emit, tools);
  }

  write(event: AnswerEvent): string {
    this.#begin();
    this.#countKept(event);
    switch (event.kind) {
      case 'text':
      case 'refusal':
        if (event.text !== '') this.keptBytes += this.#items.message().add(event.kind, event.text);
        break;
      case 'reasoning':
        if (event.text !== '') this.keptBytes += this.#items.reasoning().add(event.text);
        break;
      case 'signature':
        this.#items.sign(event.signature);
        break;
      case 'tool-call':
        this.#items.call(event);
        break;
      case 'arguments':
        this.keptBytes += this.#items.arguments(event.text);
        break;
      case 'part-end':
        // A text may have several parts, and whether the last one was cut off is known later.
        if (event.index !== null) this.#items.endPart();
        break;
      case 'finished':
        this.#reason = event.reason;
        break;
      case 'usage':
        this.#tokens = event.tokens;
        break;
    }
    return this.#frames.take();
  }

  get hasMore(): boolean {
    return this.#frames.hasMore;
  }

  readonly more = (): string => this.#frames.take();

  /** The last report of usage comes after the end of the text, so the end of the response waits for it. */
  end(): string {
    this.#begin();
    const isComplete = incompleteReason(this.#reason) === null;
    const output = this.#items.end(isComplete ? 'completed' : 'incomplete');
    const response = responseObject(this.#frame, { output, reason: this.#reason, tokens: this.#tokens });
    this.#frames.emit(isComplete ? 'response.completed' : 'response.incomplete', { response });
    return this.#frames.take();
  }

  readonly errorEvent = (error: JsonObject): string => {
    this.#begin();
    this.#frames.emit('response.failed', { response: failedResponse(this.#frame, error) });
    return this.#frames.takeAll();
  };

  #countKept(event: AnswerEvent): void {
    this.keptBytes += keptBytesOfEvent(event) + (event.kind === this.#lastKind ? 0 : bytesPerPart);
    this.#lastKind = event.kind;
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#frames.emitBegun(responseObject(this.#frame, null));
  }
}

export function writeResponsesAnswer(
  frame: ResponseFrame,
  { parts, reason, tokens }: Answer,
  tools: ClientTools,
): Buffer {
  const items = new OutputItems(frame, () => undefined, tools);
  for (const part of parts) {
    if (part.kind === 'tool-call') {
      items.call(part);
      items.arguments(part.arguments);
      items.endPart();
    } else if (part.kind === 'reasoning') {
      if (part.text !== '') items.reasoning().add(part.text);
      if (part.signature !== null) items.sign(part.signature);
    } else if (part.text !== '') items.message().add(part.kind, part.text);
  }
  const output = items.end(incompleteReason(reason) === null ? 'completed' : 'incomplete');
  const written = jsonParts(responseObject(frame, { output, reason, tokens }));
  return Buffer.concat(written.flatMap(bytesOf));
}

function bytesOf(part: string | LongText): ReadonlyArray<Buffer> {
  return typeof part === 'string' ? [Buffer.from(part)] : Array.from(part.parts(), (text) => Buffer.from(text));
}
