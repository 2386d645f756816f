import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import { cutText } from '#gateway/framing/json-outline.ts';
import { sseEvent } from '#gateway/framing/sse-event.ts';
import {
  classifications,
  type EventClassification,
  type StreamInterpreter,
} from '#gateway/framing/stream-interpreter.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import { providerErrorIn, usageIn } from '#gateway/neutral/provider-report.ts';
import { numberOrNull, textOr } from '#gateway/protocols/parsing.ts';
import type { Watched } from '#gateway/protocols/protocol.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { failedResponse, type ResponseFrame, responseObject } from './response-object.ts';
import { errorMembers, eventText } from './responses-answer-writer.ts';
import { rewriteEvent, type StorageMembers } from './rewrite-response.ts';

const { empty, noContent, content, end, malformed, tooLarge } = classifications;

export class ResponsesStream implements StreamInterpreter {
  hasBegun = false;
  isFinished = false;
  tokens: Tokens | null = null;
  /** No other target can continue it: its events and items are numbered. */
  readonly text = null;
  readonly keptBytes: number = 0;
  readonly #frame: (() => ResponseFrame) | null;
  /** What the provider has begun; null before its first event. */
  #begun: Pick<ResponseFrame, 'id' | 'model' | 'createdAt'> | null = null;
  #failed: JsonObject = {};
  #sequence = -1;

  /**
   * @param frame for the response in the event of a failure; null for a response in the background, which may succeed
   *   although its stream fails
   */
  constructor(frame: (() => ResponseFrame) | null) {
    this.#frame = frame;
  }

  get canEnd(): boolean {
    return this.isFinished;
  }

  finish(): string {
    return '';
  }

  classify(data: string | null): EventClassification {
    if (data === null || data === '') return empty;
    const event = parseForeign(data);
    if (event === tooLargeJson) return tooLarge;
    if (!isObject(event) || typeof event.type !== 'string') return malformed;
    const classification = hasError(event) ? this.classifyFailed(event, data) : this.#classify(event, event.type, data);
    // An error is not passed on, so its number is free.
    if (typeof event.sequence_number === 'number' && classification.kind !== 'error')
      this.#sequence = event.sequence_number;
    this.take(event, data, classification);
    return classification;
  }

  /** An event with a response passes too, because its outline has the usage. */
  peek(beginning: string): 'content' | 'no-content' | null {
    const event = parseForeign(beginning);
    if (!isObject(event) || typeof event.type !== 'string' || failedTypes.has(event.type)) return null;
    if (hasError(event)) return null;
    return isContent(event, event.type) ? 'content' : 'no-content';
  }

  /** Codex ignores the event `error`, so a failure is the end of the response. */
  readonly errorEvent = (error: JsonObject): string => {
    if (this.#frame === null) return this.#next('error', errorMembers(error));
    const frame = { ...this.#frame(), ...this.#begun, isStored: false };
    const created =
      this.#begun === null ? this.#next('response.created', { response: responseObject(frame, null) }) : '';
    return created + this.#next('response.failed', { response: { ...failedResponse(frame, error), ...this.#failed } });
  };

  #next(type: string, members: JsonObject): string {
    this.#sequence += 1;
    return eventText({ type, ...members, sequence_number: this.#sequence });
  }

  protected take(_event: JsonObject, _data: string, _classification: EventClassification): void {
    // It passes as it comes.
  }

  protected classifyFailed({ response }: JsonObject, data: string): EventClassification {
    if (isObject(response)) {
      this.tokens = usageIn(response);
      this.#failed = saidOfFailed(response, data);
    }
    return { kind: 'error', error: (isObject(response) && providerErrorIn(response)) || unnamed };
  }

  protected endWith(response: Json | undefined): EventClassification {
    this.isFinished = true;
    if (isObject(response)) this.tokens = usageIn(response);
    return end;
  }

  #classify(event: JsonObject, type: string, data: string): EventClassification {
    switch (type) {
      case 'response.created':
        this.#begun = begunIn(event);
        return noContent;
      case 'response.completed':
      case 'response.incomplete':
        return this.endWith(event.response);
      case 'error':
        return { kind: 'error', error: providerErrorIn(event) ?? unnamed };
      case 'response.failed':
        return this.classifyFailed(event, data);
      case 'response.output_item.added':
        this.hasBegun = true;
        return noContent;
      default:
        if (isContent(event, type)) return content;
        return type === 'keepalive' || type.endsWith('.delta') ? empty : noContent;
    }
  }
}

/** The events of failures. Another target may still answer the call. */
const failedTypes = new Set(['error', 'response.failed']);

function hasError({ response }: JsonObject): boolean {
  return isObject(response) && response.error !== undefined && response.error !== null;
}

/**
 * What the event of a failed response says, which the answer repeats. Its id is that of its first event; the gateway
 * says the others.
 */
function saidOfFailed(response: JsonObject, data: string): JsonObject {
  // Of a large event only the outline is read.
  if (data.includes(`"${cutText}"`)) return { usage: response.usage ?? null };
  const { id: _id, error: _error, status: _status, store: _store, previous_response_id: _previous, ...said } = response;
  return said;
}

/** The types of events that are content, with or without a piece of it. */
const contentTypes = new Set(['response.output_item.done', 'response.image_generation_call.partial_image']);

function isContent({ delta }: JsonObject, type: string): boolean {
  // An empty piece is only a sign of life.
  return contentTypes.has(type) || (type.endsWith('.delta') && delta !== '');
}

function begunIn({ response }: JsonObject): Pick<ResponseFrame, 'id' | 'model' | 'createdAt'> | null {
  if (!isObject(response) || typeof response.id !== 'string') return null;
  return { id: response.id, model: textOr(response.model) ?? '', createdAt: numberOrNull(response.created_at) ?? 0 };
}

const begunTypes = new Set(['response.created', 'response.queued', 'response.in_progress']);

const responseTypes: ReadonlySet<unknown> = new Set([...begunTypes, 'response.completed', 'response.incomplete']);

const unnamed = { message: 'The provider reported an error without a message.', type: null, code: null, param: null };

interface RewrittenStreamOptions extends Pick<Watched, 'redactErrors'> {
  readonly storage: StorageMembers;
  /** See `ResponsesStream`. A response in the background may wait long for its content, so its first events do not. */
  readonly frame: (() => ResponseFrame) | null;
}

/** Replaces what its responses say of their storage. */
export class RewrittenResponsesStream extends ResponsesStream {
  readonly #options: RewrittenStreamOptions;
  #written: string[] = [];
  #last = '';
  #hasContent = false;

  constructor(options: RewrittenStreamOptions) {
    super(options.frame);
    this.#options = options;
  }

  override classify(data: string | null): EventClassification {
    const classification = super.classify(data);
    const isBegun = this.#options.frame === null && classification.kind === 'no-content';
    this.#hasContent ||= isBegun || classification.kind === 'content';
    return isBegun ? content : classification;
  }

  /** A response is rewritten, and the last one is stored. */
  override peek(beginning: string): 'content' | 'no-content' | null {
    const event = parseForeign(beginning);
    if (isObject(event) && responseTypes.has(event.type)) return null;
    const kind = super.peek(beginning);
    return this.#options.frame === null && kind !== null ? 'content' : kind;
  }

  /**
   * Classifies a failed response. One in the background is stored as it ended: the provider has answered what it was
   * asked.
   */
  protected override classifyFailed(event: JsonObject, data: string): EventClassification {
    return this.#options.frame === null && isObject(event.response)
      ? this.endWith(event.response)
      : super.classifyFailed(event, data);
  }

  /** The events since the last call, without the last event of the stream. */
  readonly translated = (): string => {
    const written = this.#written.join('');
    this.#written = [];
    return written;
  };

  /** The last event, which waits until the response is stored. */
  override finish(): string {
    return this.#last;
  }

  protected override take(event: JsonObject, data: string, { kind }: EventClassification): void {
    // What says nothing is not held: it may come for minutes, and fast.
    if (kind === 'empty' && !this.#hasContent) return;
    const type = String(event.type);
    const hasResponse = kind === 'end' || begunTypes.has(type);
    const { storage, redactErrors } = this.#options;
    const clean = hasError(event) ? redactErrors(data) : data;
    const text = sseEvent(type, hasResponse ? rewriteEvent(clean, storage) : clean);
    if (kind === 'end') this.#last = text;
    else if (kind !== 'error') this.#written.push(text);
  }
}
