import { createHash, type Hash } from 'node:crypto';
import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';
import { type AnswerEvent, maxToolCalls } from '#gateway/neutral/answer-event.ts';
import { isPlaceholder, replacesPlaceholder } from '#gateway/neutral/call-arguments.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import { argumentsTextOf } from '#gateway/protocols/arguments-text.ts';
import { CallIds, nameOr } from '#gateway/protocols/call-ids.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { JsonProgress } from '#shared/json/json-progress.ts';
import { callState, ExtraContent } from './extra-content.ts';

interface CallPiece {
  /** The provider's `index`. */
  readonly place: number | string | null;
  readonly id: string | null;
  readonly name: string | null;
  readonly text: string;
  readonly extra: Json | undefined;
}

interface StreamedCall {
  /** Null until it has a name: clients need that first. */
  index: number | null;
  place: CallPiece['place'];
  id: string | null;
  name: string | null;
  /** Whether its name has come again after its arguments. */
  isNamedAgain: boolean;
  given: JsonProgress;
  digest: Hash;
  /** Whether nothing but a placeholder of its arguments has come. */
  hasPlaceholder: boolean;
  /** The arguments that wait for its name; null without any. */
  held: GatheredText | null;
  /** What the provider needs back with it. */
  readonly extra: ExtraContent;
}

/** The bytes of a call in addition to its texts. */
const bytesPerCall = 1_000;

/**
 * Finds the call to which each piece of a stream belongs. OpenAI numbers calls with `index`, and sends id and name in the
 * first piece alone. Others send no index or 0 for all (Ollama, vLLM), the id with each piece (SGLang,
 * https://github.com/InternLM/lmdeploy/issues/3412), another id with each piece (vLLM), no id (LM Studio), the name
 * with each piece, or the whole calls again at the end.
 */
export class StreamedCalls {
  readonly #calls: StreamedCall[] = [];
  readonly #byId = new Map<string, StreamedCall>();
  readonly #byPlace = new Map<CallPiece['place'], StreamedCall>();
  readonly #ids = new CallIds();
  #last: StreamedCall | null = null;
  readonly #of: string;
  #begun = 0;
  #keptBytes = 0;

  /** @param of the target that needs back what its calls have in addition */
  constructor(of: string) {
    this.#of = of;
  }

  get keptBytes(): number {
    return this.#keptBytes + this.#ids.keptBytes;
  }

  get hasBegun(): boolean {
    return this.#begun > 0;
  }

  /** Whether arguments have come of a call without a name. An id alone says nothing. */
  get hasNameless(): boolean {
    return this.#calls.some(({ name, given }) => name === null && given.state !== 'empty');
  }

  /** @param calls those in one chunk */
  read(calls: ReadonlyArray<JsonObject>): ReadonlyArray<AnswerEvent> {
    const named = new Set<StreamedCall>();
    return calls.flatMap((call) => this.#take(pieceOf(call), named));
  }

  /** @param named the calls that the same chunk has named */
  #take(piece: CallPiece, named: Set<StreamedCall>): ReadonlyArray<AnswerEvent> {
    if (piece.id === null && piece.name === null && piece.text === '' && piece.extra === undefined) return [];
    const known = this.#knownOf(piece);
    const isAnother = known === null || this.#beginsAnother(known, piece, named);
    if (isAnother && this.#calls.length === maxToolCalls) return [{ kind: 'too-large' }];
    const call = isAnother ? this.#begin() : known;
    if (repeats(call, piece)) return [];
    if (isAnother && known?.isNamedAgain === true) call.name = known.name;
    this.#note(call, piece);
    if (piece.name !== null) named.add(call);
    return this.#eventsOf(call, piece.text);
  }

  /** The call that a piece continues, unless it begins another one. */
  #knownOf(piece: CallPiece): StreamedCall | null {
    const { place, id } = piece;
    const placed = place === null ? this.#last : (this.#byPlace.get(place) ?? this.#unplaced(piece, place));
    // An id may have been given twice.
    if (id === null || placed?.id === id) return placed;
    return this.#byId.get(id) ?? placed;
  }

  /** The call that began without an index, by its number among all, or the latest one if the piece begins none. */
  #unplaced({ id, name }: CallPiece, place: number | string): StreamedCall | null {
    const call = this.#calls[Number(place)] ?? (id === null && name === null ? this.#last : null);
    return call?.place === null ? call : null;
  }

  #beginsAnother(call: StreamedCall, piece: CallPiece, named: ReadonlySet<StreamedCall>): boolean {
    const { place, id, name, text } = piece;
    if (name !== null && call.name !== null && name !== call.name) return true;
    // Nothing follows whole arguments.
    const follows = hasWholeArguments(call) && text.trim() !== '';
    if (id === null || call.id === null) {
      if (name === null) return follows && (id !== null || call.isNamedAgain);
      return follows || named.has(call);
    }
    if (id !== call.id) return place === null || name !== null || follows;
    if (name === null || (place !== null && place === call.place)) return false;
    return (place !== null && call.place !== null) || (follows && !call.hasPlaceholder && !repeats(call, piece));
  }

  #begin(): StreamedCall {
    const call: StreamedCall = {
      ...{ index: null, place: null, id: null, name: null },
      ...{ isNamedAgain: false, given: new JsonProgress(), digest: createHash('sha256') },
      ...{ hasPlaceholder: false, held: null, extra: new ExtraContent() },
    };
    this.#calls.push(call);
    this.#keptBytes += bytesPerCall;
    return call;
  }

  #note(call: StreamedCall, { place, id, name, text, extra }: CallPiece): void {
    this.#last = call;
    // A client has its state by then.
    if (call.index === null) this.#keptBytes += call.extra.add(extra);
    if (place !== null) {
      call.place ??= place;
      this.#byPlace.set(place, call);
    }
    if (id !== null && call.id === null) {
      call.id = id;
      this.#byId.set(id, call);
      this.#keptBytes += keptBytesOf(id);
    }
    call.isNamedAgain = name !== null && hasWholeArguments(call);
    call.name ??= name;
    if (text !== '') addArguments(call, text);
  }

  #eventsOf(call: StreamedCall, text: string): ReadonlyArray<AnswerEvent> {
    if (call.name === null) {
      call.held ??= new GatheredText();
      if (text !== '') this.#keptBytes += call.held.add(text);
      return [];
    }
    if (call.index !== null) return argumentsOf(call.index, text);
    const { id, name, held } = call;
    const index = this.#begun;
    this.#begun += 1;
    call.index = index;
    call.held = null;
    this.#keptBytes += keptBytesOf(name) - (held?.bytes ?? 0);
    return [
      { kind: 'tool-call', index, id: this.#ids.give(id), name, state: callState(call.extra, this.#of) },
      ...argumentsOf(index, (held?.text ?? '') + text),
    ];
  }
}

function hasWholeArguments({ given }: StreamedCall): boolean {
  return given.isObject && given.state === 'whole';
}

function addArguments(call: StreamedCall, text: string): void {
  if (call.hasPlaceholder && replacesPlaceholder(text)) {
    call.given = new JsonProgress();
    call.digest = createHash('sha256');
    call.hasPlaceholder = false;
  } else call.hasPlaceholder = call.given.state === 'empty' && isPlaceholder(text);
  call.given.add(text);
  call.digest.update(text, 'utf16le');
}

/** Whether a piece has nothing but the whole arguments of its call again. */
function repeats(call: StreamedCall, { id, text }: CallPiece): boolean {
  if (id === null || id !== call.id || !hasWholeArguments(call)) return false;
  return createHash('sha256').update(text, 'utf16le').digest().equals(call.digest.copy().digest());
}

function argumentsOf(index: number, text: string): ReadonlyArray<AnswerEvent> {
  return text === '' ? [] : [{ kind: 'arguments', index, text }];
}

function pieceOf(call: JsonObject): CallPiece {
  const { index } = call;
  const asked = isObject(call.function) ? call.function : call;
  return {
    place: typeof index === 'number' || typeof index === 'string' ? index : null,
    id: nameOr(call.id),
    name: nameOr(asked.name),
    text: argumentsTextOf(asked.arguments),
    extra: call.extra_content ?? undefined,
  };
}
