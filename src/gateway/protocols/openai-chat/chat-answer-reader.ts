import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import { parseAnswerKeepingText } from '#gateway/framing/json-text.ts';
import type { PathPattern } from '#gateway/framing/path-tree.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent, AnswerReader } from '#gateway/neutral/answer-event.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { errorOfChoices, providerErrorIn, usageIn } from '#gateway/neutral/provider-report.ts';
import { argumentsTextOf } from '#gateway/protocols/arguments-text.ts';
import { CallIds, nameOr } from '#gateway/protocols/call-ids.ts';
import { failedAnswer, finishReasonOf, saysReason } from '#gateway/protocols/finish-reasons.ts';
import { listOr } from '#gateway/protocols/parsing.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { reasoningIn, type SaidPart, saidIn } from './chat-content.ts';
import { othersThanRole } from './chat-event.ts';
import { callState, ExtraContent } from './extra-content.ts';
import { detailsIn, detailsMember, stateSignature } from './message-state.ts';
import { StreamedCalls } from './streamed-calls.ts';
import { StreamedState } from './streamed-state.ts';

export class ChatAnswerReader implements AnswerReader {
  readonly #calls: StreamedCalls;
  readonly #state: StreamedState;
  #hasStarted = false;
  readonly #said = new Set<AnswerEvent['kind']>();
  #id: string | null = null;
  #model: string | null = null;

  constructor({ id }: TargetModel) {
    this.#calls = new StreamedCalls(id);
    this.#state = new StreamedState(id);
  }

  get keptBytes(): number {
    return this.#calls.keptBytes + this.#state.keptBytes;
  }

  read(data: string | null): ReadonlyArray<AnswerEvent> {
    if (data === null || data === '') return [];
    if (data.trim() === '[DONE]') return [{ kind: 'end' }];
    const chunk = parseForeign(data);
    if (chunk === tooLargeJson) return [{ kind: 'too-large' }];
    if (!isObject(chunk)) return [{ kind: 'malformed' }];
    const error = providerErrorIn(chunk) ?? errorOfChoices(chunk);
    if (error !== null) return [{ kind: 'error', error }];
    return this.#events(withArgumentsAsText(data, chunk));
  }

  #events(chunk: JsonObject): ReadonlyArray<AnswerEvent> {
    const choice = choiceOf(chunk);
    const read = choice === null ? [] : this.#read(choice);
    if (choice !== null && saysReason(choice.finish_reason)) read.push(this.#finish(choice.finish_reason));
    const events = [...this.#state.withSignature(read)];
    const hasContent = events.some(({ kind }) => kind !== 'part-start');
    if (!this.#hasStarted) events.unshift(...this.#start(chunk, hasContent));
    const tokens = usageIn(chunk);
    if (tokens !== null) events.push({ kind: 'usage', tokens });
    return events;
  }

  /**
   * Starts the answer. The id and the model of Azure's first chunk are empty
   * (https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-streaming).
   */
  #start({ id, model }: JsonObject, hasContent: boolean): ReadonlyArray<AnswerEvent> {
    this.#id ??= nameOr(id);
    this.#model ??= nameOr(model);
    this.#hasStarted = this.#id !== null || hasContent;
    return this.#hasStarted ? [{ kind: 'started', id: this.#id, model: this.#model }] : [];
  }

  #read(choice: JsonObject): AnswerEvent[] {
    const member = memberOf(choice);
    const message = choice[member];
    if (!isObject(message)) return [];
    const said = saidIn(message);
    if (said === null) return [{ kind: 'unreadable' }];
    const events = member === 'message' ? this.#readMessage(message, said) : this.#readDelta(message, said);
    for (const { kind } of said) this.#said.add(kind);
    return events;
  }

  #readDelta(delta: JsonObject, said: ReadonlyArray<AnswerEvent>): AnswerEvent[] {
    const isRepeated = this.#state.hasTextOf(delta);
    this.#state.takeDelta(delta);
    const texts = isRepeated ? said.filter(({ kind }) => kind !== 'reasoning') : said;
    const events = [...texts, ...this.#calls.read(callsIn(delta))];
    // Hidden reasoning, and a call that has no name yet, are more than a role and show nothing.
    return events.length === 0 && othersThanRole(delta).length > 0 ? [{ kind: 'part-start' }] : events;
  }

  /** Some providers repeat the whole message at the end of a stream, or have its calls there alone. */
  #readMessage(message: JsonObject, said: ReadonlyArray<AnswerEvent>): AnswerEvent[] {
    this.#state.takeMessage(message, this.#said.has('reasoning'));
    const texts = said.filter(({ kind }) => !this.#said.has(kind));
    return this.#calls.hasBegun ? texts : [...texts, ...this.#calls.read(callsIn(message))];
  }

  #finish(said: Json | undefined): AnswerEvent {
    const reason = finishReasonOf(said, this.#calls.hasBegun);
    if (reason === 'failed') return { kind: 'error', error: failedAnswer };
    // A call that was cut off before its name is left out.
    if (this.#calls.hasNameless && reason !== 'length') return { kind: 'unreadable' };
    return { kind: 'finished', reason, stopSequence: null };
  }
}

/** Reads the answer; null if it cannot be read. */
export function readChatAnswer(body: Buffer, parsed: JsonObject, { id: target }: TargetModel): Answer | null {
  const value = withArgumentsAsText(body, parsed);
  const choice = choiceOf(value);
  if (choice === null) return null;
  // Gemini sends a filtered answer without a message.
  const message = choice.message ?? (saysReason(choice.finish_reason) ? {} : null);
  if (!isObject(message)) return null;
  const said = saidIn(message);
  const calls = callsIn(message).filter(saysMore);
  const reason = finishReasonOf(choice.finish_reason, calls.length > 0);
  if (said === null || reason === 'failed') return null;
  const ids = new CallIds();
  const parts = calls.map((call) => callOf(call, ids, target));
  if (parts.includes(null) && reason !== 'length') return null;
  return {
    id: nameOr(value.id),
    model: nameOr(value.model),
    parts: [...partsOf(message, said, target), ...parts.filter((part) => part !== null)],
    reason,
    stopSequence: null,
    tokens: usageIn(value),
  };
}

/** The parts, with the signature of the reasoning: of the text before the others, or all that there is of it. */
function partsOf(message: JsonObject, said: ReadonlyArray<SaidPart>, target: string): ReadonlyArray<AnswerPart> {
  const reasoning = reasoningIn(message);
  const signature = signatureOf(message, reasoning, target);
  const parts = said.map((part): AnswerPart => (part.kind === 'reasoning' ? { ...part, signature: null } : part));
  if (signature === null) return parts;
  return [{ kind: 'reasoning', text: reasoning?.text ?? '', signature }, ...parts.slice(reasoning === null ? 0 : 1)];
}

function signatureOf(message: JsonObject, reasoning: ReturnType<typeof reasoningIn>, of: string): Signature | null {
  const details = detailsIn(message);
  const extra = ExtraContent.of(message.extra_content).value;
  if (reasoning === null && details.length === 0 && Object.keys(extra).length === 0) return null;
  const member = reasoning === null || reasoning.member === detailsMember ? null : reasoning.member;
  return stateSignature({ member, details, extra }, of, reasoning?.text ?? '');
}

/** The call; null for one without a name. */
function callOf(call: JsonObject, ids: CallIds, target: string): AnswerPart | null {
  const asked = isObject(call.function) ? call.function : call;
  const name = nameOr(asked.name);
  if (name === null) return null;
  return {
    kind: 'tool-call',
    id: ids.give(nameOr(call.id)),
    name,
    arguments: argumentsTextOf(asked.arguments),
    state: callState(ExtraContent.of(call.extra_content), target),
  };
}

/** Choice 0, wherever it is in the list. */
function choiceOf({ choices }: JsonObject): JsonObject | null {
  return (
    listOr(choices)
      .filter(isObject)
      .find(({ index }) => (index ?? 0) === 0) ?? null
  );
}

/** True for a name or arguments. An id alone says nothing. */
function saysMore(call: JsonObject): boolean {
  const { name, arguments: given } = isObject(call.function) ? call.function : call;
  return nameOr(name) !== null || argumentsTextOf(given).trim() !== '';
}

/** The calls in `tool_calls`, or as the `function_call` of older providers. */
function callsIn({ tool_calls: calls, function_call: legacy }: JsonObject): ReadonlyArray<JsonObject> {
  if (Array.isArray(calls) && calls.length > 0) return calls.filter(isObject);
  if (isObject(calls)) return [calls];
  return isObject(legacy) ? [{ function: legacy }] : [];
}

/** Keeps arguments of other types than text byte for byte, such as objects of Ollama. */
function withArgumentsAsText(json: string | Buffer, value: JsonObject): JsonObject {
  const choice = choiceOf(value);
  if (choice === null) return value;
  const member = memberOf(choice);
  const message = choice[member];
  if (!isObject(message) || !callsIn(message).some(hasValueAsArguments)) return value;
  return parseAnswerKeepingText(typeof json === 'string' ? Buffer.from(json) : json, argumentPaths[member]) ?? value;
}

/**
 * The member with the content. A provider that does not stream may send its whole answer as the one chunk of a stream.
 */
function memberOf(choice: JsonObject): 'delta' | 'message' {
  return isObject(choice.delta) ? 'delta' : 'message';
}

function hasValueAsArguments(call: JsonObject): boolean {
  const { arguments: given } = isObject(call.function) ? call.function : call;
  return typeof given === 'object' && given !== null;
}

function pathsOf(said: string): ReadonlyArray<PathPattern> {
  const message = ['choices', '*', said];
  return [
    [...message, 'tool_calls', '*', 'function', 'arguments'],
    [...message, 'tool_calls', '*', 'arguments'],
    [...message, 'tool_calls', 'function', 'arguments'],
    [...message, 'function_call', 'arguments'],
  ];
}

const argumentPaths = { delta: pathsOf('delta'), message: pathsOf('message') } as const;
