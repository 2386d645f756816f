import type { AnswerEvent } from './answer-event.ts';
import { type ArgumentRules, CallArguments, isNothing, isPlaceholder, replacesPlaceholder } from './call-arguments.ts';
import { GatheredText } from './gathered-text.ts';

type ToolCall = Extract<AnswerEvent, { kind: 'tool-call' }>;
type Arguments = Extract<AnswerEvent, { kind: 'arguments' }>;
type Finished = Extract<AnswerEvent, { kind: 'finished' }>;
type TextEvent = Extract<AnswerEvent, { kind: 'text' | 'refusal' | 'reasoning' }>;
/** An event of no call. */
type OtherEvent = TextEvent | Extract<AnswerEvent, { kind: 'signature' | 'part-end' }>;

/** A call of which more may come. */
interface Call {
  readonly kind: 'call';
  readonly begun: ToolCall;
  readonly given: CallArguments;
  /** The first piece of its arguments while it may stand for others; empty without one. */
  placeholder: string;
  /** The arguments that wait; null for a call that has begun for the client. */
  waiting: GatheredText | null;
  /** Whether the provider says that it is whole. */
  isEnded: boolean;
}

interface Texts {
  readonly kind: TextEvent['kind'];
  readonly gathered: GatheredText;
}

/** What waits for the end of the open call. */
type Waiting = Call | Texts | Exclude<OtherEvent, TextEvent>;

/** The bytes of a part in addition to its texts. */
const bytesPerPart = 256;

const none: ReadonlyArray<AnswerEvent> = [];
const malformed: ReadonlyArray<AnswerEvent> = [{ kind: 'malformed' }];

/**
 * Puts the events of a provider into the order that `AnswerEvent` promises: one part after the other, whatever a provider
 * mixes. Parts pass as they come. Until the arguments of the open call are a whole JSON object, more of it may follow, so
 * other parts wait; at the end of the answer they all pass. A call that is whole is ended by `part-end`. One that the limit
 * of tokens has cut off is not ended, and one that is cut off for another reason makes the answer `malformed` at its `end`.
 */
export class OrderedAnswer {
  readonly #rules: ArgumentRules;
  readonly #calls = new Map<number, Call>();
  /** The call whose arguments pass. */
  #open: Call | null = null;
  readonly #waiting: Waiting[] = [];
  /** The end of the answer while a call is cut off: some providers say why before the last piece. */
  #finished: Finished | null = null;
  keptBytes = 0;

  constructor(rules: ArgumentRules) {
    this.#rules = rules;
  }

  take(event: AnswerEvent): ReadonlyArray<AnswerEvent> {
    switch (event.kind) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        return event.text === '' ? none : this.#takeOther(event);
      case 'signature':
        return this.#takeOther(event);
      case 'part-end':
        return event.index === null ? this.#takeOther(event) : this.#endCall(event.index);
      case 'tool-call':
        return this.#begin(event);
      case 'arguments':
        return event.text === '' ? none : this.#takeLate(this.#takeArguments(event));
      case 'finished':
        return this.#finish(event);
      case 'end':
        return this.#finished === null ? [event] : malformed;
      case 'unreadable':
        return malformed;
      default:
        return [event];
    }
  }

  #takeOther(event: OtherEvent): ReadonlyArray<AnswerEvent> {
    if (this.#open === null) return [event];
    if (this.#open.given.isWholeObject) return [...this.#close(this.#open), event];
    this.#keep(event);
    return this.#passPlaceholder();
  }

  #keep(event: OtherEvent): void {
    if (!('text' in event)) {
      this.#wait(event);
      return;
    }
    const last = this.#waiting.at(-1);
    if (last?.kind === event.kind) this.keptBytes += last.gathered.add(event.text);
    else {
      const gathered = new GatheredText();
      gathered.add(event.text);
      this.#wait({ kind: event.kind, gathered });
    }
  }

  #wait(part: Waiting): void {
    this.#waiting.push(part);
    this.keptBytes += bytesOf(part);
  }

  #begin(begun: ToolCall): ReadonlyArray<AnswerEvent> {
    const given = new CallArguments(begun.name, this.#rules);
    const call: Call = { kind: 'call', begun, given, placeholder: '', waiting: new GatheredText(), isEnded: false };
    this.#calls.set(begun.index, call);
    if (this.#open === null) return this.#pass(call);
    if (this.#open.given.isWholeObject) return [...this.#close(this.#open), ...this.#pass(call)];
    this.#wait(call);
    return none;
  }

  #takeArguments(event: Arguments): ReadonlyArray<AnswerEvent> {
    const call = this.#calls.get(event.index);
    if (call === undefined) return malformed;
    // Spaces after the end say nothing. Anything else would be lost.
    if (call.waiting === null && call !== this.#open) return event.text.trim() === '' ? none : malformed;
    if (call.given.isEmpty && call.placeholder === '' && isPlaceholder(event.text)) {
      call.placeholder = event.text;
      return none;
    }
    const text = replacesPlaceholder(event.text) ? event.text : call.placeholder + event.text;
    call.placeholder = '';
    call.given.add(text);
    if (call.waiting !== null) {
      this.keptBytes += call.waiting.add(text);
      return this.#passPlaceholder();
    }
    const passed = text === event.text ? event : { ...event, text };
    return this.#waiting.length > 0 && call.given.isWholeObject ? [passed, ...this.#passOn(call)] : [passed];
  }

  #takeLate(passed: ReadonlyArray<AnswerEvent>): ReadonlyArray<AnswerEvent> {
    return this.#finished === null ? passed : [...passed, ...this.#finish(this.#finished)];
  }

  /** Passes the placeholder: what comes of another part shows that it is all of the arguments. */
  #passPlaceholder(): ReadonlyArray<AnswerEvent> {
    return this.#open === null || this.#open.placeholder === '' ? none : this.#passOn(this.#open);
  }

  #endCall(index: number): ReadonlyArray<AnswerEvent> {
    const call = this.#calls.get(index);
    if (call === undefined) return none;
    call.isEnded = true;
    return call === this.#open ? this.#passOn(call) : none;
  }

  /** Ends the open call, and passes what waits, up to a call of which more may come. */
  #passOn(ended: Call): ReadonlyArray<AnswerEvent> {
    const events = [...this.#close(ended)];
    let passed = 0;
    for (const part of this.#waiting) {
      if (this.#open !== null) {
        if (!this.#open.isEnded && !this.#open.given.isWholeObject) break;
        events.push(...this.#close(this.#open));
      }
      this.keptBytes -= bytesOf(part);
      events.push(...this.#pass(part));
      passed += 1;
    }
    this.#waiting.splice(0, passed);
    if (this.#open?.isEnded === true) events.push(...this.#close(this.#open));
    return events;
  }

  #pass(part: Waiting): ReadonlyArray<AnswerEvent> {
    if (part.kind !== 'call') return 'gathered' in part ? [{ kind: part.kind, text: part.gathered.text }] : [part];
    const text = part.waiting?.text ?? '';
    part.waiting = null;
    this.#open = part;
    return text === '' ? [part.begun] : [part.begun, { kind: 'arguments', index: part.begun.index, text }];
  }

  /** @param isCut whether the limit of tokens has cut the answer off */
  #close(call: Call, isCut = false): ReadonlyArray<AnswerEvent> {
    this.#open = null;
    const settled = settle(call);
    if (!isWhole(call, isCut)) return none;
    const { index } = call.begun;
    const { isEmpty, whenEmpty } = call.given;
    const text = isEmpty ? whenEmpty : settled;
    const end: AnswerEvent = { kind: 'part-end', index };
    return text === '' ? [end] : [{ kind: 'arguments', index, text }, end];
  }

  /** Passes all that waits. A call that the limit of tokens has cut off does not begin any more. */
  #finish(event: Finished): ReadonlyArray<AnswerEvent> {
    const isCut = event.reason === 'length';
    const calls = Array.from(this.#calls.values());
    this.#finished = !isCut && calls.some(({ given }) => given.isCut) ? event : null;
    if (this.#finished !== null) return none;
    for (const call of calls) call.waiting?.add(settle(call));
    if (!isCut && !calls.every(({ given }) => given.isTakable)) return malformed;
    const events: AnswerEvent[] = [];
    if (this.#open !== null) events.push(...this.#close(this.#open, isCut));
    for (const part of this.#waiting) {
      if (part.kind !== 'call') events.push(...this.#pass(part));
      else if (isWhole(part, isCut)) events.push(...this.#pass(part), ...this.#close(part, isCut));
    }
    this.#waiting.length = 0;
    this.keptBytes = 0;
    return [...events, event];
  }
}

function settle(call: Call): string {
  const text = isNothing(call.placeholder) ? '' : call.placeholder;
  call.placeholder = '';
  call.given.add(text);
  return text;
}

/** Whether a call has all of its arguments, or needs none. */
function isWhole({ given, isEnded }: Call, isCut: boolean): boolean {
  return given.isTakable && (isEnded || !(isCut && given.isEmpty));
}

function bytesOf(part: Waiting): number {
  if (part.kind === 'call')
    return bytesPerPart + part.begun.id.length + part.begun.name.length + (part.waiting?.bytes ?? 0);
  if ('gathered' in part) return bytesPerPart + part.gathered.bytes;
  return bytesPerPart + (part.kind === 'signature' ? part.signature.value.length : 0);
}
