import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import { type AnswerEvent, type AnswerReader, type FinishReason, maxToolCalls } from '#gateway/neutral/answer-event.ts';
import { providerErrorIn, tokensIn } from '#gateway/neutral/provider-report.ts';
import { listOr, numberOr, textOr } from '#gateway/protocols/parsing.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'filtered',
};

/** Some providers end a call of a tool with `stop`. */
function reasonOf(said: string, hasCalls: boolean): FinishReason {
  const reason = reasons[said] ?? 'stop';
  return reason === 'stop' && hasCalls ? 'tool-calls' : reason;
}

/** Reads a chat stream of one choice. */
export class ChatAnswerReader implements AnswerReader {
  #hasStarted = false;
  /** The calls of tools that have begun. */
  readonly #calls = new Set<number>();

  read(data: string | null): ReadonlyArray<AnswerEvent> {
    if (data === null || data === '') return [];
    if (data.trim() === '[DONE]') return [{ kind: 'end' }];
    const chunk = parseForeign(data);
    if (chunk === tooLargeJson) return [{ kind: 'too-large' }];
    if (!isObject(chunk)) return [{ kind: 'malformed' }];
    const error = providerErrorIn(chunk);
    if (error !== null) return [{ kind: 'error', error }];
    return [...this.#events(chunk)];
  }

  *#events(chunk: JsonObject): Iterable<AnswerEvent> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      yield { kind: 'started', id: textOr(chunk.id), model: textOr(chunk.model) };
    }
    const [choice] = listOr(chunk.choices);
    if (isObject(choice)) {
      if (isObject(choice.delta)) yield* this.#delta(choice.delta);
      const reason = choice.finish_reason;
      if (typeof reason === 'string' && reason !== '')
        yield { kind: 'finished', reason: reasonOf(reason, this.#calls.size > 0), stopSequence: null };
    }
    const tokens = tokensIn(chunk.usage);
    if (tokens !== null) yield { kind: 'usage', tokens };
  }

  *#delta(delta: JsonObject): Iterable<AnswerEvent> {
    const reasoning = textOr(delta.reasoning_content) ?? textOr(delta.reasoning);
    if (reasoning) yield { kind: 'reasoning', text: reasoning };
    const text = textOr(delta.content);
    if (text) yield { kind: 'text', text };
    const refusal = textOr(delta.refusal);
    if (refusal) yield { kind: 'refusal', text: refusal };
    for (const [place, call] of listOr(delta.tool_calls).entries()) if (isObject(call)) yield* this.#call(call, place);
  }

  *#call(call: JsonObject, place: number): Iterable<AnswerEvent> {
    const index = numberOr(call.index) ?? place;
    const asked = isObject(call.function) ? call.function : {};
    if (!this.#calls.has(index)) {
      this.#calls.add(index);
      if (this.#calls.size > maxToolCalls) yield { kind: 'too-large' };
      yield { kind: 'tool-call', index, id: textOr(call.id) ?? '', name: textOr(asked.name) ?? '' };
    }
    const text = textOr(asked.arguments);
    if (text) yield { kind: 'arguments', index, text };
  }
}

/** Reads a whole chat answer; null if it cannot be read. */
export function readChatAnswer(_body: Buffer, value: JsonObject): Answer | null {
  const [choice] = listOr(value.choices);
  if (!isObject(choice) || !isObject(choice.message)) return null;
  const parts = partsOf(choice.message);
  const hasCalls = parts.some(({ kind }) => kind === 'tool-call');
  return {
    id: textOr(value.id),
    model: textOr(value.model),
    parts,
    reason: reasonOf(textOr(choice.finish_reason) ?? 'stop', hasCalls),
    stopSequence: null,
    tokens: tokensIn(value.usage),
  };
}

function partsOf(message: JsonObject): ReadonlyArray<AnswerPart> {
  const reasoning = textOr(message.reasoning_content) ?? textOr(message.reasoning) ?? '';
  const [text, refusal] = [textOr(message.content) ?? '', textOr(message.refusal) ?? ''];
  return [
    ...(reasoning === '' ? [] : [{ kind: 'reasoning', text: reasoning, signature: null } as const]),
    ...(text === '' ? [] : [{ kind: 'text', text } as const]),
    ...(refusal === '' ? [] : [{ kind: 'refusal', text: refusal } as const]),
    ...listOr(message.tool_calls).flatMap(callOf),
  ];
}

function callOf(call: Json): ReadonlyArray<AnswerPart> {
  if (!isObject(call) || !isObject(call.function)) return [];
  const { name, arguments: given } = call.function;
  return [{ kind: 'tool-call', id: textOr(call.id) ?? '', name: textOr(name) ?? '', arguments: textOr(given) ?? '' }];
}
