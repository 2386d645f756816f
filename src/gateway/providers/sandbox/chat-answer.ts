import { hash } from 'node:crypto';
import { asksForUsage } from '#gateway/chat/chat-body.ts';
import type { ChatRequest } from '#gateway/chat/chat-request.ts';
import type { LocalAnswer } from '#gateway/transport/local-transport.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { type ChatContent, choicesIn, contentOf, lastUserText } from './chat-content.ts';
import { eventAnswer, jsonAnswer, refusalAnswer, wordsIn } from './local-answers.ts';
import { UnfitSchemaError } from './unfit-schema-error.ts';

/** The model's name in every answer, so that the sandbox is not mistaken for a real model. */
export const sandboxModel = 'switchyard-sandbox';

/** A fixed time, because the same request must give the same answer. */
const created = 1_767_225_600;
/** The most pieces of a stream, over all choices. Each piece is an event, which is much larger than a word. */
const maxPieces = 4_096;

/** Answers a chat. The same request gives the same answer. */
export function answerChat(request: ChatRequest): LocalAnswer {
  try {
    return answerWith(request, contentOf(request));
  } catch (error) {
    if (!(error instanceof UnfitSchemaError)) throw error;
    return refusalAnswer('sandbox_cannot_answer', error.message);
  }
}

function answerWith(request: ChatRequest, content: ChatContent): LocalAnswer {
  const digest = hash('sha256', request.bytes).slice(0, 24);
  const words = wordsOf(content);
  const choices = Array.from({ length: choicesIn(request) }, (_, index) => index);
  const usage = { prompt_tokens: wordsIn(lastUserText(request)), completion_tokens: words.length * choices.length };
  const counted = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
  const common = { id: `chatcmpl-sandbox-${digest}`, created, model: sandboxModel, system_fingerprint: 'sandbox' };
  const said = spoken(content, `call_sandbox_${digest}`);
  const usageChunk = asksForUsage(request) ? counted : null;
  if (request.stream) return eventAnswer(chunks(common, said, piecesOf(words, choices.length), choices, usageChunk));
  const { message, finishReason } = said;
  const whole = choices.map((index) => ({ index, message, logprobs: null, finish_reason: finishReason }));
  return jsonAnswer({ ...common, object: 'chat.completion', choices: whole, usage: counted });
}

/** The words, each with the space after it. */
function wordsOf(content: ChatContent): ReadonlyArray<string> {
  return (content.kind === 'text' ? content.text : content.arguments).split(/(?<= )/);
}

/** The pieces of a stream: words, or several words where there are many. */
function piecesOf(words: ReadonlyArray<string>, choices: number): ReadonlyArray<string> {
  const wordsPerPiece = Math.ceil((words.length * choices) / maxPieces);
  return Array.from({ length: Math.ceil(words.length / wordsPerPiece) }, (_, index) =>
    words.slice(index * wordsPerPiece, (index + 1) * wordsPerPiece).join(''),
  );
}

/** A content as a whole and in pieces. */
interface SpokenContent {
  readonly message: JsonObject;
  readonly finishReason: string;
  /** Comes before the pieces. */
  readonly firstDelta: JsonObject;
  readonly deltaOf: (piece: string) => JsonObject;
}

function spoken(content: ChatContent, callId: string): SpokenContent {
  const assistant = { role: 'assistant', refusal: null };
  if (content.kind === 'text') {
    return {
      message: { ...assistant, content: content.text },
      finishReason: 'stop',
      firstDelta: { ...assistant, content: '' },
      deltaOf: (piece) => ({ content: piece }),
    };
  }
  const { name } = content;
  const call = (said: string) => ({ id: callId, type: 'function', function: { name, arguments: said } });
  return {
    message: { ...assistant, content: null, tool_calls: [call(content.arguments)] },
    finishReason: 'tool_calls',
    firstDelta: { ...assistant, content: null, tool_calls: [{ index: 0, ...call('') }] },
    deltaOf: (piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
  };
}

function* chunks(
  common: JsonObject,
  { firstDelta, deltaOf, finishReason }: SpokenContent,
  pieces: ReadonlyArray<string>,
  choices: ReadonlyArray<number>,
  usage: JsonObject | null,
): Iterable<JsonObject> {
  const chunk = (said: ReadonlyArray<Json>, more: JsonObject = {}): JsonObject => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: said,
    ...more,
  });
  const choice = (index: number, delta: JsonObject, reason: string | null) =>
    chunk([{ index, delta, logprobs: null, finish_reason: reason }]);
  for (const index of choices) {
    yield choice(index, firstDelta, null);
    for (const piece of pieces) yield choice(index, deltaOf(piece), null);
    yield choice(index, {}, finishReason);
  }
  if (usage !== null) yield chunk([], { usage });
}
