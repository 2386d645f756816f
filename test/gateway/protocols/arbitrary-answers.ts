import fc from 'fast-check';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
/** What every protocol takes as the id of a call. */
const id = fc.stringMatching(/^[a-z0-9_]{1,12}$/);

const calls: fc.Arbitrary<AnswerPart> = fc
  .tuple(id, fc.stringMatching(/^[a-z]{1,8}$/), fc.dictionary(text, fc.jsonValue({ maxDepth: 1 })))
  .map(([callId, name, value]) => ({
    kind: 'tool-call',
    id: callId,
    name,
    arguments: JSON.stringify(value),
    state: null,
  }));

const texts: fc.Arbitrary<AnswerPart> = text.map((said) => ({ kind: 'text', text: said }));

/** What a provider of chats needs back with its reasoning is read, and not written by it. */
function reasoningOf(protocol: string): fc.Arbitrary<AnswerPart> {
  return fc.tuple(text, text).map(([thought, value]) => ({
    kind: 'reasoning',
    text: thought,
    signature: protocol === 'openai-chat' ? null : { of: protocol, value, isRedacted: false },
  }));
}

const tokens = fc
  .tuple(fc.nat(100), fc.nat(100), fc.nat(100), fc.nat(100), fc.nat(100))
  .map(([uncached, cachedInput, short, cacheWriteHour, output]) => {
    const cacheWrite = short + cacheWriteHour;
    return { input: uncached + cachedInput + cacheWrite, output, cachedInput, cacheWrite, cacheWriteHour };
  });

/** How the ids of a protocol's answers begin. */
const idPrefixes = { 'openai-chat': 'chatcmpl-', 'anthropic-messages': 'msg_', 'openai-responses': 'resp_' };

/** The name of a protocol for generating text. */
export type ProtocolName = keyof typeof idPrefixes;

/** Any answer of a protocol: at most one text, so that each of its parts can be recognized. */
export function answers(protocol: string): fc.Arbitrary<Answer> {
  const parts = fc
    .tuple(
      fc.array(reasoningOf(protocol), { maxLength: 1 }),
      fc.array(texts, { maxLength: 1 }),
      fc.uniqueArray(calls, { maxLength: 3, selector: (part) => (part.kind === 'tool-call' ? part.id : null) }),
    )
    .map((each) => each.flat());
  return fc.tuple(id, id, parts, tokens, fc.boolean()).map(([answerId, model, all, used, isCut]) => {
    const hasCalls = all.some(({ kind }) => kind === 'tool-call');
    const reason = hasCalls ? 'tool-calls' : isCut ? 'length' : 'stop';
    return {
      id: idPrefixes[protocol as ProtocolName] + answerId,
      model,
      parts: all,
      reason,
      stopSequence: null,
      tokens: used,
    };
  });
}

/** The events of an answer that a client can tell apart: neighbouring pieces of one part are one. */
export function joined(events: Iterable<AnswerEvent>): ReadonlyArray<AnswerEvent> {
  const all: AnswerEvent[] = [];
  for (const event of events) {
    if (event.kind === 'part-start' || event.kind === 'part-end') continue;
    const last = all.at(-1);
    if ((event.kind === 'text' || event.kind === 'reasoning') && last?.kind === event.kind)
      all[all.length - 1] = { kind: event.kind, text: last.text + event.text };
    else if (event.kind === 'arguments' && last?.kind === 'arguments' && last.index === event.index)
      all[all.length - 1] = { ...event, text: last.text + event.text };
    else all.push(event);
  }
  return all;
}

/** The events of a whole answer: a stream of them says the same. */
export function* eventsOf({ id, model, parts, reason, stopSequence, tokens }: Answer): Iterable<AnswerEvent> {
  yield { kind: 'started', id, model };
  let index = 0;
  for (const part of parts) {
    if (part.kind === 'tool-call') {
      yield { kind: 'tool-call', index, id: part.id, name: part.name, state: null };
      yield { kind: 'arguments', index, text: part.arguments };
      yield { kind: 'part-end', index };
      index += 1;
    } else {
      yield { kind: part.kind, text: part.text };
      if (part.kind === 'reasoning' && part.signature !== null) yield { kind: 'signature', signature: part.signature };
    }
  }
  if (tokens !== null) yield { kind: 'usage', tokens };
  yield { kind: 'finished', reason, stopSequence };
  yield { kind: 'end' };
}
