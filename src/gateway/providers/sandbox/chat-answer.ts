import { hash } from 'node:crypto';
import { lastMember, scalarValue } from '#gateway/framing/json-members.ts';
import type { ChatRequest } from '#gateway/protocols/openai-chat/chat-request.ts';
import { asksForUsage } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { eventAnswer, jsonAnswer, type LocalAnswer, refusalAnswer } from '#gateway/transport/local-transport.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { sampleSchema, UnfitSchemaError } from './schema-sample.ts';

/** The model in every answer, so that the sandbox is not mistaken for a real model. */
export const sandboxModel = 'switchyard-sandbox';

/** A fixed time, because the same request must give the same answer. */
const created = 1_767_225_600;
/** Maximum number of pieces of a stream, over all choices. Each is an event, which is much larger than a word. */
const maxPieces = 4_096;

/** The same request gives the same answer. */
export function answerChat(request: ChatRequest): LocalAnswer {
  try {
    const text = lastUserText(request);
    return answerWith(request, text, contentOf(request, text));
  } catch (error) {
    if (!(error instanceof UnfitSchemaError)) throw error;
    return refusalAnswer('sandbox_cannot_answer', error.message);
  }
}

function answerWith(request: ChatRequest, text: string, content: ChatContent): LocalAnswer {
  const digest = hash('sha256', request.bytes).slice(0, 24);
  const words = wordsOf(content);
  const choices = Array.from({ length: choicesIn(request) }, (_, index) => index);
  const usage = { prompt_tokens: wordsIn(text), completion_tokens: words.length * choices.length };
  const counted = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
  const common = { id: `chatcmpl-sandbox-${digest}`, created, model: sandboxModel, system_fingerprint: 'sandbox' };
  const said = spoken(content, `call_sandbox_${digest}`);
  const usageChunk = asksForUsage(request) ? counted : null;
  if (request.stream) return eventAnswer(chunks(common, said, piecesOf(words, choices.length), choices, usageChunk));
  const { message, finishReason } = said;
  const whole = choices.map((index) => ({ index, message, logprobs: null, finish_reason: finishReason }));
  return jsonAnswer({ ...common, object: 'chat.completion', choices: whole, usage: counted });
}

function wordsOf(content: ChatContent): ReadonlyArray<string> {
  return (content.kind === 'text' ? content.text : content.arguments).split(/(?<= )/);
}

/** The pieces of a text: words, or several words where there are many. */
function piecesOf(words: ReadonlyArray<string>, choices: number): ReadonlyArray<string> {
  const wordsPerPiece = Math.ceil((words.length * choices) / maxPieces);
  return Array.from({ length: Math.ceil(words.length / wordsPerPiece) }, (_, index) =>
    words.slice(index * wordsPerPiece, (index + 1) * wordsPerPiece).join(''),
  );
}

interface SpokenContent {
  readonly message: JsonObject;
  readonly finishReason: string;
  /** The delta that comes before the pieces. */
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

type ChatContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'function-call'; readonly name: string; readonly arguments: string };

/** Maximum size of a member. Larger ones are not parsed, because parsing many values takes long. */
const maxMemberBytes = 256 * 1024;
/** Maximum length of the user's text in an answer: the maximum number of choices must fit in memory. */
const maxTextLength = 100_000;

const maxChoices = 128;

/** The number of choices, which all have the same content. */
function choicesIn({ choices }: ChatRequest): number {
  return Math.min(Math.floor(choices), maxChoices);
}

function lastUserText(request: ChatRequest): string {
  const { bytes, lastUserContent: content } = request;
  const said = content === null ? null : scalarValue(bytes, content);
  if (typeof said === 'string') return said;
  if (content === null || !Array.isArray(said) || content.end - content.valueStart > maxMemberBytes) return '';
  const parts: ReadonlyArray<Json> = JSON.parse(bytes.toString('utf8', content.valueStart, content.end));
  return parts
    .filter(isObject)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

/**
 * Decides the answer: a function call if `tool_choice` requires one, or if the last message says `call <tool>`; a value of
 * the schema if `response_format` has one, else a text.
 * @param text that of the user's last message, which is read once because it may be large
 * @throws UnfitSchemaError if it cannot; the message has the reason
 */
function contentOf(request: ChatRequest, text: string): ChatContent {
  const demanded = functionToCall(request, text);
  if (demanded !== null) return callOf(demanded, choicesIn(request));
  const said = `This is the Switchyard sandbox and no model. You said: ${repeated(text)}`;
  const format = member(request, 'response_format');
  if (!isObject(format)) return { kind: 'text', text: said };
  if (format.type === 'json_object') return { kind: 'text', text: JSON.stringify({ sandbox: said }) };
  if (format.type !== 'json_schema') return { kind: 'text', text: said };
  const schema = isObject(format.json_schema) ? (format.json_schema.schema ?? {}) : {};
  return { kind: 'text', text: JSON.stringify(sampleSchema(schema, choicesIn(request))) };
}

function callOf(tool: JsonObject, choices: number): ChatContent {
  const name = typeof tool.name === 'string' ? tool.name : '';
  const made = tool.parameters === undefined ? {} : sampleSchema(tool.parameters, choices);
  return { kind: 'function-call', name, arguments: JSON.stringify(made) };
}

/** From `tool_choice`: a call of one of some functions, one only if the user asks for it, or none. */
interface ToolChoice {
  readonly mode: 'required' | 'auto' | 'none';
  /** Names of the functions that may be called; null for all. */
  readonly names: ReadonlySet<unknown> | null;
}

function functionToCall(request: ChatRequest, text: string): JsonObject | null {
  const { mode, names } = toolChoiceOf(member(request, 'tool_choice'));
  if (mode === 'none') return null;
  const asked = mode === 'auto' ? askedFunction(request, text) : null;
  if (mode === 'auto' && asked === null) return null;
  const allowed = functionsIn(member(request, 'tools')).filter(({ name }) => names === null || names.has(name));
  const found = mode === 'auto' ? allowed.find(({ name }) => name === asked) : allowed[0];
  if (found !== undefined) return found;
  if (mode === 'auto') return null;
  throw new UnfitSchemaError('tool_choice demands a function that tools does not hold.');
}

/** @see https://platform.openai.com/docs/guides/function-calling#tool-choice */
function toolChoiceOf(choice: Json | undefined): ToolChoice {
  if (choice === 'required' || choice === 'none') return { mode: choice, names: null };
  if (!isObject(choice)) return { mode: 'auto', names: null };
  if (choice.type !== 'allowed_tools') return { mode: 'required', names: new Set([functionName(choice)]) };
  const { mode, tools } = isObject(choice.allowed_tools) ? choice.allowed_tools : {};
  const names = (Array.isArray(tools) ? tools : []).filter(isObject).map(functionName);
  return { mode: mode === 'required' ? mode : 'auto', names: new Set(names) };
}

function functionName(tool: JsonObject): unknown {
  return isObject(tool.function) ? tool.function.name : undefined;
}

function functionsIn(tools: Json | undefined): ReadonlyArray<JsonObject> {
  return (Array.isArray(tools) ? tools : [])
    .filter(isObject)
    .flatMap((tool) => (isObject(tool.function) ? [tool.function] : []));
}

/**
 * The function in `call <tool>`, if the user's message is the last: after the result of a tool it is answered with a
 * text.
 */
function askedFunction(request: ChatRequest, text: string): string | null {
  if (!request.isUserLast) return null;
  return /\bcall ([A-Za-z0-9_-]{1,64})/i.exec(text.slice(0, maxTextLength))?.[1] ?? null;
}

function member({ bytes, members }: ChatRequest, name: string): Json | undefined {
  const found = lastMember(members, name);
  if (found === undefined) return undefined;
  if (found.end - found.valueStart > maxMemberBytes)
    throw new UnfitSchemaError(`The sandbox reads ${name} up to ${maxMemberBytes} bytes.`);
  return JSON.parse(bytes.toString('utf8', found.valueStart, found.end));
}

function repeated(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength).toWellFormed()}…` : text;
}

/** The number of words at the beginning of a text. The sandbox counts them as tokens. */
export function wordsIn(text: string): number {
  const word = /\S+/g;
  const counted = text.slice(0, maxTextLength);
  let words = 0;
  // A list of them would be large, too.
  while (word.test(counted)) words += 1;
  return words;
}
