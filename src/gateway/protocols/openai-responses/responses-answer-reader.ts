import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import { parseAnswerKeepingText } from '#gateway/framing/json-text.ts';
import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import { type AnswerEvent, type AnswerReader, type FinishReason, maxToolCalls } from '#gateway/neutral/answer-event.ts';
import { type ProviderError, providerErrorIn, usageIn } from '#gateway/neutral/provider-report.ts';
import { argumentsTextOf } from '#gateway/protocols/arguments-text.ts';
import { CallIds, nameOr } from '#gateway/protocols/call-ids.ts';
import { failedAnswer, finishReasonOf } from '#gateway/protocols/finish-reasons.ts';
import { listOr, numberOrNull, objectOr } from '#gateway/protocols/parsing.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { betweenSummaries, type ItemKind, type ItemPart, kindOfItem, partsOfItem, signatureOf } from './read-items.ts';

const nothing: ReadonlyArray<AnswerEvent> = [];
const partStart: ReadonlyArray<AnswerEvent> = [{ kind: 'part-start' }];
const unreadable: ReadonlyArray<AnswerEvent> = [{ kind: 'unreadable' }];
const tooLarge: ReadonlyArray<AnswerEvent> = [{ kind: 'too-large' }];

type PieceKind = 'text' | 'refusal' | 'summary' | 'thought' | 'arguments';

/** Events with a piece: in `delta`, or whole in another member. The older names of reasoning are Azure's and OpenRouter's. */
const pieces: Readonly<Record<string, readonly [kind: PieceKind, member: 'delta' | 'text' | 'refusal' | 'arguments']>> =
  {
    'response.output_text.delta': ['text', 'delta'],
    'response.output_text.done': ['text', 'text'],
    'response.refusal.delta': ['refusal', 'delta'],
    'response.refusal.done': ['refusal', 'refusal'],
    'response.reasoning_summary_text.delta': ['summary', 'delta'],
    'response.reasoning_summary_text.done': ['summary', 'text'],
    'response.reasoning_summary.delta': ['summary', 'delta'],
    'response.reasoning_text.delta': ['thought', 'delta'],
    'response.reasoning_text.done': ['thought', 'text'],
    'response.reasoning.delta': ['thought', 'delta'],
    'response.function_call_arguments.delta': ['arguments', 'delta'],
    'response.function_call_arguments.done': ['arguments', 'arguments'],
  };

interface Item {
  readonly kind: ItemKind;
  readonly id: string | null;
  /** The place in the output; null if the provider does not say. */
  readonly place: number | null;
  /** The number of a call that has begun; null for other items. */
  readonly call: number | null;
  hasSaid: boolean;
  hasPieces: boolean;
  /** Whether it is whole. */
  isDone: boolean;
  /** The form of its reasoning that came first: the other one says the same. */
  form: 'summary' | 'thought' | null;
  summary: number;
}

/** The bytes of an item in addition to its id. */
const bytesPerItem = 256;

/**
 * https://platform.openai.com/docs/api-reference/responses-streaming. Servers differ in what they leave out: the pieces
 * (LM Studio has some calls in `response.output_item.done` alone), the beginnings and ends of items, their ids, or all
 * but the last event. New types of events may be added any time, so an unknown one says nothing.
 */
export class ResponsesAnswerReader implements AnswerReader {
  readonly #provider: string;
  readonly #byId = new Map<string, Item>();
  readonly #byPlace = new Map<number, Item>();
  readonly #latest = new Map<ItemKind, Item>();
  readonly #callIds = new CallIds();
  readonly #said = new Set<ItemKind>();
  #calls = 0;
  #hasStarted = false;
  #itemBytes = 0;

  constructor({ provider }: Pick<TargetModel, 'provider'>) {
    this.#provider = provider;
  }

  get keptBytes(): number {
    return this.#callIds.keptBytes + this.#itemBytes;
  }

  read(data: string | null): ReadonlyArray<AnswerEvent> {
    if (data === null || data === '') return nothing;
    // Not every server ends its stream with the response.
    if (data.trim() === '[DONE]') return [{ kind: 'end' }];
    const event = parseForeign(data);
    if (event === tooLargeJson) return tooLarge;
    if (!isObject(event)) return [{ kind: 'malformed' }];
    const failed = failureIn(event);
    if (failed !== null) return [...usageOf(event.response), { kind: 'error', error: failed }];
    const events = this.#events(withArgumentsAsText(data, event));
    return this.#hasStarted || events.length === 0 ? events : [...this.#start(null), ...events];
  }

  #events(event: JsonObject): ReadonlyArray<AnswerEvent> {
    const piece = typeof event.type === 'string' && Object.hasOwn(pieces, event.type) ? pieces[event.type] : undefined;
    if (piece !== undefined) return this.#piece(event, ...piece);
    switch (event.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#start(objectOr(event.response));
      case 'response.output_item.added':
        return this.#begin(objectOr(event.item), event.output_index);
      case 'response.output_item.done':
        return this.#end(objectOr(event.item), event.output_index);
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectOr(event.response), event.type === 'response.incomplete');
      default:
        return nothing;
    }
  }

  /** @param response null if the provider says nothing of it */
  #start(response: JsonObject | null): ReadonlyArray<AnswerEvent> {
    const id = nameOr(response?.id);
    if (this.#hasStarted || (response !== null && id === null)) return nothing;
    this.#hasStarted = true;
    return [{ kind: 'started', id, model: nameOr(response?.model) }];
  }

  #begin(item: JsonObject, place: Json | undefined): ReadonlyArray<AnswerEvent> {
    const kind = kindOfItem(item);
    if (kind === 'unreadable') return unreadable;
    const name = nameOr(item.name);
    if (kind !== 'call' || name === null) {
      this.#add(kind, item, place, null);
      return partStart;
    }
    if (this.#calls === maxToolCalls) return tooLarge;
    const begun = this.#add(kind, item, place, this.#calls);
    const given = argumentsTextOf(item.arguments);
    return [this.#callEvent(nameOr(item.call_id) ?? begun.id, name), ...this.#arguments(begun, given)];
  }

  #add(kind: ItemKind, item: JsonObject, at: Json | undefined, call: number | null): Item {
    const [id, place] = [nameOr(item.id), numberOrNull(at)];
    const begun: Item = {
      ...{ kind, id, place, call },
      ...{ hasSaid: false, hasPieces: false, isDone: false, form: null, summary: 0 },
    };
    if (id !== null) this.#byId.set(id, begun);
    if (place !== null) this.#byPlace.set(place, begun);
    this.#latest.set(kind, begun);
    this.#itemBytes += bytesPerItem + (id === null ? 0 : keptBytesOf(id));
    return begun;
  }

  #callEvent(id: string | null, name: string): AnswerEvent {
    const index = this.#calls;
    this.#calls += 1;
    this.#said.add('call');
    return { kind: 'tool-call', index, id: this.#callIds.give(id), name, state: null };
  }

  /**
   * Finds an item by its id, by its place, or else the latest one of its kind. vLLM has other ids in each event, and
   * other servers have no ids, or the same place for all items.
   */
  #itemOf(kind: ItemKind, id: Json | undefined, place: Json | undefined): Item | null {
    const byId = typeof id === 'string' ? this.#byId.get(id) : undefined;
    if (byId?.kind === kind) return byId;
    const byPlace = typeof place === 'number' ? this.#byPlace.get(place) : undefined;
    if (byPlace?.kind === kind) return byPlace;
    const latest = this.#latest.get(kind) ?? null;
    const isElsewhere = typeof place === 'number' && latest !== null && latest.place !== null && latest.place !== place;
    return isElsewhere || latest?.isDone === true ? null : latest;
  }

  #piece(
    event: JsonObject,
    kind: PieceKind,
    member: 'delta' | 'text' | 'refusal' | 'arguments',
  ): ReadonlyArray<AnswerEvent> {
    const of = itemKinds[kind];
    const known = this.#itemOf(of, event.item_id, event.output_index);
    if (kind === 'arguments') return this.#argumentPiece(known, argumentsTextOf(event[member]), member !== 'delta');
    const text = event[member];
    const item = known ?? this.#add(of, { id: event.item_id ?? null }, event.output_index, null);
    if (typeof text !== 'string') return unreadable;
    if (member === 'delta') return this.#textPiece(item, kind, text, event.summary_index);
    const isRepeated = item.hasPieces || item.isDone;
    const events = isRepeated ? nothing : this.#textPiece(item, kind, text, event.summary_index);
    item.hasPieces = false;
    return events;
  }

  /** A piece of arguments. The end of a call repeats what comes before its beginning. */
  #argumentPiece(item: Item | null, text: string, isWhole: boolean): ReadonlyArray<AnswerEvent> {
    return item === null || item.isDone || (isWhole && item.hasSaid) ? nothing : this.#arguments(item, text);
  }

  #arguments(item: Item, text: string): ReadonlyArray<AnswerEvent> {
    if (item.call === null || text === '') return nothing;
    item.hasSaid = true;
    return [{ kind: 'arguments', index: item.call, text }];
  }

  #textPiece(
    item: Item,
    kind: Exclude<PieceKind, 'arguments'>,
    text: string,
    place: Json | undefined,
  ): ReadonlyArray<AnswerEvent> {
    if (text === '') return nothing;
    const isSecond = item.hasSaid;
    item.hasSaid = true;
    item.hasPieces = true;
    this.#said.add(item.kind);
    if (kind === 'text' || kind === 'refusal') return [{ kind, text }];
    item.form ??= kind;
    if (item.form !== kind) return nothing;
    const summary = numberOrNull(place) ?? item.summary;
    const isNext = kind === 'summary' && isSecond && summary !== item.summary;
    item.summary = summary;
    return [{ kind: 'reasoning', text: isNext ? betweenSummaries + text : text }];
  }

  /** Ends an item with what has not come. */
  #end(item: JsonObject, place: Json | undefined): ReadonlyArray<AnswerEvent> {
    const kind = kindOfItem(item);
    const begun = this.#itemOf(kind, item.id, place);
    if (begun?.isDone === true && begun.id !== null && begun.id === item.id) return nothing;
    const parts = partsOfItem(item, this.#provider);
    if (parts === null) return unreadable;
    const known = begun === null || begun.isDone ? this.#add(kind, item, place, null) : begun;
    known.isDone = true;
    const rest = this.#rest(known, item, parts);
    return item.status === 'incomplete' ? rest : [...rest, { kind: 'part-end', index: this.#endedCall(known) }];
  }

  #endedCall({ kind, call }: Item): number | null {
    return kind === 'call' ? (call ?? this.#calls - 1) : null;
  }

  #rest(known: Item, item: JsonObject, parts: ReadonlyArray<ItemPart>): ReadonlyArray<AnswerEvent> {
    if (known.call !== null) return known.hasSaid ? nothing : this.#arguments(known, argumentsTextOf(item.arguments));
    if (!known.hasSaid) return this.#eventsOf(parts);
    const signature = known.kind === 'reasoning' ? signatureOf(item, this.#provider, false) : null;
    return signature === null ? nothing : [{ kind: 'signature', signature }];
  }

  #eventsOf(parts: ReadonlyArray<ItemPart>): ReadonlyArray<AnswerEvent> {
    return parts.flatMap((part): ReadonlyArray<AnswerEvent> => {
      if (part.kind === 'tool-call') {
        if (this.#calls === maxToolCalls) return tooLarge;
        const begun = this.#callEvent(part.id, part.name);
        return part.arguments === ''
          ? [begun]
          : [begun, { kind: 'arguments', index: this.#calls - 1, text: part.arguments }];
      }
      this.#said.add(part.kind === 'reasoning' ? 'reasoning' : 'message');
      if (part.kind !== 'reasoning') return [part];
      const { text, signature } = part;
      return [
        ...(text === '' ? [] : [{ kind: 'reasoning', text } as const]),
        ...(signature === null ? [] : [{ kind: 'signature', signature } as const]),
      ];
    });
  }

  /** Finishes the answer. The last event has all items again. Some servers have a kind of them there alone. */
  #finish(response: JsonObject, isIncomplete: boolean): ReadonlyArray<AnswerEvent> {
    const items = listOr(response.output).filter(isObject);
    const late = items.filter((item) => !this.#said.has(kindOfItem(item)));
    const parts = late.map((item) => partsOfItem(item, this.#provider));
    if (parts.includes(null)) return unreadable;
    const started = this.#start(response);
    const events = this.#eventsOf(parts.flatMap((each) => each ?? []));
    const reason = reasonOf(response, isIncomplete, this.#calls > 0);
    return [
      ...started,
      ...events,
      ...usageOf(response),
      { kind: 'finished', reason, stopSequence: null },
      { kind: 'end' },
    ];
  }
}

const itemKinds: Readonly<Record<PieceKind, ItemKind>> = {
  text: 'message',
  refusal: 'message',
  summary: 'reasoning',
  thought: 'reasoning',
  arguments: 'call',
};

function usageOf(response: Json | undefined): ReadonlyArray<AnswerEvent> {
  const tokens = isObject(response) ? usageIn(response) : null;
  return tokens === null ? nothing : [{ kind: 'usage', tokens }];
}

function failureIn(event: JsonObject): ProviderError | null {
  const response = objectOr(event.response);
  const error = providerErrorIn(response) ?? providerErrorIn(event);
  const isFailed = event.type === 'error' || event.type === 'response.failed' || failedStates.has(response.status);
  return error ?? (isFailed ? failedAnswer : null);
}

const failedStates: ReadonlySet<Json | undefined> = new Set(['failed', 'cancelled']);

/**
 * A response that is incomplete for an unknown reason was cut off. vLLM says so in the response alone, and not in the
 * type of its last event.
 */
function reasonOf(
  { status, incomplete_details: details }: JsonObject,
  isIncomplete: boolean,
  hasCalls: boolean,
): FinishReason {
  if (!isIncomplete && status !== 'incomplete') return hasCalls ? 'tool-calls' : 'stop';
  const reason = finishReasonOf(objectOr(details).reason, hasCalls);
  return reason === 'filtered' ? reason : 'length';
}

/** Reads the response; null if it cannot be read. */
export function readResponsesAnswer(
  body: Buffer,
  parsed: JsonObject,
  { provider }: Pick<TargetModel, 'provider'>,
): Answer | null {
  const value = withArgumentsAsText(body, parsed);
  const { output, status = 'completed' } = value;
  if (!Array.isArray(output) || (status !== 'completed' && status !== 'incomplete')) return null;
  const ids = new CallIds();
  const parts = output.map((item) => (isObject(item) ? partsOfItem(item, provider) : null));
  if (parts.includes(null)) return null;
  const read = parts.flatMap((each) => each ?? []).map((part) => withId(part, ids));
  const hasCalls = read.some(({ kind }) => kind === 'tool-call');
  return {
    id: nameOr(value.id),
    model: nameOr(value.model),
    parts: read,
    reason: reasonOf(value, false, hasCalls),
    stopSequence: null,
    tokens: usageIn(value),
  };
}

function withId(part: ItemPart, ids: CallIds): AnswerPart {
  return part.kind === 'tool-call' ? { ...part, id: ids.give(part.id), state: null } : part;
}

/** The paths of arguments in an event, or in a whole response. */
const argumentPaths = [
  ['arguments'],
  ['item', 'arguments'],
  ['output', '*', 'arguments'],
  ['response', 'output', '*', 'arguments'],
];

/** Keeps arguments of other types than text byte for byte. */
function withArgumentsAsText(json: string | Buffer, value: JsonObject): JsonObject {
  const items = [value, value.item, ...listOr(value.output), ...listOr(objectOr(value.response).output)];
  if (!items.some(hasValueAsArguments)) return value;
  return parseAnswerKeepingText(typeof json === 'string' ? Buffer.from(json) : json, argumentPaths) ?? value;
}

function hasValueAsArguments(item: Json | undefined): boolean {
  return isObject(item) && typeof item.arguments === 'object' && item.arguments !== null;
}
